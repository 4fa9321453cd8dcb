"""The vendor's published examples run as they are, two command names replaced.

Every folder of a checkout with `commands_wse2.sh` or `commands_wse3.sh` is an example. The newer
corpus's sdklayout examples name their host program by a placeholder of the vendor's test tools
(`%python_sdk_paint`), which is no command: `cs_python run.py` of the older corpus stands for it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

CORPORA = {"SZ_MCP_CSL_EXAMPLES": "1.4", "SZ_MCP_SDK_EXAMPLES": "2.10"}

_BEYOND = (
    "it negates what lies behind the array of twiddle factors, and a range must be one variable's"
)
KNOWN_FAILURES: dict[tuple[str, str, str], str] = {
    (dialect, "fft-1d-2d", arch): _BEYOND
    for dialect in CORPORA.values()
    for arch in ("wse2", "wse3")
}
"""By dialect, example and architecture: why it doesn't work."""

_ROOT = Path(__file__).parents[3]
_SHARED = "benchmark-libs"
_LIMIT_S = 280


@dataclass(frozen=True)
class Example:
    """A folder of a corpus and one of its scripts."""

    folder: Path
    arch: str
    dialect: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.dialect, self.folder.name, self.arch

    @property
    def succeeds_with(self) -> str:
        """What its host program prints when its own checks hold; empty if it prints nothing."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("*.py"))]
        said = re.search(r"print\(f?[\"'](SUCCESS[^\"'{]*)", "\n".join(texts))
        return said[1].strip() if said else ""


def _examples() -> list[Example]:
    return [
        Example(script.parent, script.stem.removeprefix("commands_"), dialect)
        for variable, dialect in CORPORA.items()
        if os.environ.get(variable)
        for script in sorted(Path(os.environ[variable]).rglob("commands_wse[23].sh"))
    ]


def _substituted(script: str, dialect: str) -> str:
    command = f"{sys.executable} -m sz_mcp"
    script = re.sub(r"^%python_sdk_paint\b", "cs_python run.py", script, flags=re.MULTILINE)
    script = re.sub(
        r"^(\s*)cslc\b", rf"\1{command} cslc --sdk-dialect={dialect}", script, flags=re.MULTILINE
    )
    return re.sub(r"^(\s*)cs_python\b", rf"\1{command} cs-python", script, flags=re.MULTILINE)


def _run(example: Example, room: Path) -> subprocess.CompletedProcess[str]:
    """Its commands in a copy, beside the folder that examples share."""
    copy = room / example.folder.name
    shutil.copytree(example.folder, copy)
    shared = example.folder.parent / _SHARED
    if shared.is_dir():
        shutil.copytree(shared, room / _SHARED)
    name = f"commands_{example.arch}.sh"
    script = (copy / name).read_text(encoding="utf-8")
    (copy / name).write_text(_substituted(script, example.dialect), encoding="utf-8")
    return subprocess.run(
        ["bash", name],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", _examples() or [None], ids=lambda one: "-".join(one.key) if one else "no checkout"
)
def test_an_example_passes_its_own_checks(example: Example | None, tmp_path: Path) -> None:
    if example is None:
        pytest.skip(f"{' and '.join(CORPORA)} name no checkouts of the examples")
    ran = _run(example, tmp_path)
    passed = ran.returncode == 0 and example.succeeds_with in ran.stdout
    reason = KNOWN_FAILURES.get(example.key)
    if reason is not None:
        assert not passed, f"it works: take it out of the known failures ({reason})"
        pytest.xfail(reason)
    assert passed, f"exit {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
