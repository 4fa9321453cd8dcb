"""Programs with random edits through the whole compiler: nothing comes of it but diagnostics.

    python -m tests.toolchains.csl.fuzz_compiler [CHECKOUT DIALECT]... [--minutes M] [--seed N]

Our own programs are always among those edited; a checkout of published examples adds those that its
commands compile (1.4 for csl-examples, 2.10 for sdk-examples). What fails is printed once per place
in the compiler with the seed that repeats it, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.toolchains.csl.seeding import Build
from tests.toolchains.csl.test_checks_seeded import _commands, _own
from tests.toolchains.csl.test_parser_fuzz import mutated
from toolchains.csl.compiler import compile_program
from toolchains.csl.lexer import lex
from toolchains.csl.source import Source

LONGEST_S = 20
MEMORY_BYTES = 8 << 30


class TooLongError(Exception):
    """A compilation that does not end."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """What takes longer is interrupted."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooLongError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def exchanged(text: str, chance: random.Random) -> str:
    """Names and numbers for others of the text, so that it still parses and its types don't fit."""
    tokens = lex(Source("", "", text))[0]
    words, gaps = [*tokens.texts[:-1]], []
    for end, begin in zip([0, *tokens.ends], [*tokens.starts, len(text)], strict=False):
        gaps.append(text[end:begin])
    plain = [at for at, word in enumerate(words) if word[:1].isalnum() or word[:1] in "_@"]
    for _ in range(chance.randint(1, 3) if plain else 0):
        at, other = chance.choice(plain), chance.choice(plain)
        alike = words[at][:1].isdigit() == words[other][:1].isdigit()
        if alike and (words[at][:1] == "@") == (words[other][:1] == "@"):
            words[at] = words[other]
        elif words[at][:1].isdigit():
            words[at] = chance.choice(["0", "1", "255", "65536", "4294967295", "-1", "1.5", "true"])
    return "".join(gap + word for gap, word in zip(gaps, words, strict=False))


@dataclass
class Fuzz:
    """What was tried so far."""

    builds: Sequence[Build]
    files: dict[int, list[str]] = field(default_factory=dict)
    """Of a build, by its place: what it reads."""
    tried: int = 0
    compiled: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """Where in the compiler → the seed and the traceback."""

    def once(self, seed: int) -> None:
        """One edited program."""
        chance = random.Random(seed)
        place = chance.randrange(len(self.builds))
        build = self.builds[place]
        if place not in self.files:
            self.files[place] = self._read_by(build)
        victim = chance.choice(self.files[place])
        text = Path(victim).read_text("utf-8")
        edit = exchanged if chance.random() < 0.7 else mutated
        changed = edit(text, chance)
        self.tried += 1

        def read(path: str) -> str:
            return changed if path == victim else Path(path).read_text("utf-8")

        try:
            with limited(LONGEST_S):
                found = compile_program(build.main, build.options, read)
            for one in found.diagnostics:
                str(one)
                if one.span is not None and not (
                    0 <= one.span.start <= one.span.end <= len(one.span.source.text)
                ):
                    raise AssertionError(f"a place outside its file: {one.code}")
            if found.program is None and all(one.severity != "error" for one in found.diagnostics):
                raise AssertionError("neither a program nor an error")
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is a find
            self._failed(seed, victim, problem)
        else:
            self.compiled += found.program is not None

    def _read_by(self, build: Build) -> list[str]:
        files: dict[str, None] = {}

        def noted(path: str) -> str:
            files[path] = None
            return Path(path).read_text("utf-8")

        compile_program(build.main, build.options, noted)
        return list(files)

    def _failed(self, seed: int, victim: str, problem: Exception) -> None:
        frames = traceback.extract_tb(problem.__traceback__)
        last = frames[-1]
        where = f"{type(problem).__name__} in {Path(last.filename).name}:{last.name}"
        if isinstance(problem, TooLongError):
            where = "endless"
        if isinstance(problem, AssertionError) and last.filename == __file__:
            where = str(problem)
        if where not in self.failures:
            told = "".join(traceback.format_exception(problem)[-8:])
            self.failures[where] = f"seed {seed}, {victim}\n{told}"


def main() -> int:
    """Edit programs until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="*", metavar="CHECKOUT DIALECT")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    builds = _own()
    for root, dialect in zip(told.checkouts[::2], told.checkouts[1::2], strict=True):
        builds += _commands(Path(root), dialect)
    fuzz = Fuzz(builds)
    end, seed = time.monotonic() + 60 * told.minutes, told.seed
    while time.monotonic() < end:
        fuzz.once(seed)
        seed += 1
        if fuzz.tried % 500 == 0:
            sys.stdout.write(f"{fuzz.tried} tried, {len(fuzz.failures)} failures\n")
            sys.stdout.flush()
    for where, text in fuzz.failures.items():
        sys.stdout.write(f"\n{where}: {text}\n")
    sys.stdout.write(
        f"{fuzz.tried} programs edited (seeds {told.seed} to {seed - 1}): {fuzz.compiled} still "
        f"compile, {len(fuzz.failures)} kinds of failure\n"
    )
    return 1 if fuzz.failures else 0


if __name__ == "__main__":
    sys.exit(main())
