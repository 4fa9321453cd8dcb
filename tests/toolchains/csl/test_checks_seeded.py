"""Type errors put into programs that have none: nearly all must be reported where they are."""

from __future__ import annotations

import os
import random
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from toolchains.csl.command_line import parse
from toolchains.csl.evaluation import Options

from .seeding import Build, Edit, Seeds, edits, parses

PROGRAMS = Path(__file__).parent / "programs"
LEAST = 0.95
OWN = {
    "halo": (("width", "3"), ("height", "2"), ("words", "4"), ("rounds", "2")),
    "loop_forms": (),
    "scalar_forms": (),
}
CORPORA = {"SZ_MCP_CSL_EXAMPLES": "1.4", "SZ_MCP_SDK_EXAMPLES": "2.10"}


@cache
def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def _missed(seeds: Seeds, count: int) -> list[str]:
    """Mistakes that nobody reports, of so many different ones; each kind as often as any other."""
    rng = random.Random(int(os.environ.get("SZ_MCP_SEED", "20261201")))
    files = sorted(seeds.users)
    drawn: set[tuple[str, Edit]] = set()
    missed = []
    while len(drawn) < count:
        file, dialect = rng.choice(files)
        text = _text(file)
        found = edits(text, dialect)
        if not found:
            continue
        kind = rng.choice(sorted({one.kind for one in found}))
        edit = rng.choice([one for one in found if one.kind == kind])
        if (file, edit) in drawn or not parses(edit.apply(text), dialect):
            continue
        drawn.add((file, edit))
        seen, said = seeds.seen(file, dialect, edit)
        if not seen:
            missed.append(f"{kind} in {file}, {edit.lines(text)}: {edit.new!r}, {said[:2]}")
    return missed


def _own() -> list[Build]:
    """Halo takes queues that are memcpy's on wse3, which it is warned of."""
    return [
        Build(str(PROGRAMS / name / "layout.csl"), Options(arch, params=params))
        for name, params in OWN.items()
        for arch in (("wse2",) if name == "halo" else ("wse2", "wse3"))
    ]


def test_most_type_errors_in_our_programs_are_reported_at_their_line() -> None:
    seeds = Seeds(_own(), _text)
    assert [str(one) for _, one in seeds.loud] == []
    missed = _missed(seeds, 60)
    assert len(missed) <= 60 * (1 - LEAST), "\n".join(missed)


def _commands(root: Path, dialect: str) -> Iterator[Build]:
    """What the examples' scripts compile, each program once per architecture and parameters."""
    for script in sorted(root.rglob("commands*.sh")):
        for line in script.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0].endswith("cslc"):
                wish = parse([*words[1:], "--sdk-dialect", dialect])
                main = os.path.normpath(script.parent / wish.main)
                yield Build(main, wish.options)


@pytest.mark.slow
@pytest.mark.parametrize(("variable", "dialect"), CORPORA.items())
def test_most_type_errors_in_published_programs_are_reported(variable: str, dialect: str) -> None:
    root = os.environ.get(variable)
    if not root:
        pytest.skip(f"{variable} names no checkout of the published examples")
    seeds = Seeds(list(dict.fromkeys(_commands(Path(root), dialect))), _text)
    assert [str(one) for _, one in seeds.loud] == []
    missed = _missed(seeds, 250)
    assert len(missed) <= 250 * (1 - LEAST), "\n".join(missed)
