"""Worked submissions, as folders: FAMILY/TASK/STYLE/kernel.py and what it needs beside it."""

from __future__ import annotations

from pathlib import Path

from kernels.records import Submission

_ROOT = Path(__file__).parent
_FAMILIES = ("numba", "cuda", "rocm", "wafer")
"""What runs on every machine first."""
_STYLES = ("naive", "tuned", "sz")
"""Simplest first. `sz`: the whole of a compressor of the SZ family, as a reference for others."""


class UnknownBaselineError(LookupError):
    """No worked submission has this family, task and style."""


def families() -> tuple[str, ...]:
    """The target families that have worked submissions."""
    return tuple(name for name in _FAMILIES if any((_ROOT / name).glob("*/*/kernel.py")))


def styles(task: str, family: str = "numba") -> tuple[str, ...]:
    """The styles there are for a task, simplest first; empty if there are none."""
    folder = _ROOT / family / task
    return tuple(style for style in _STYLES if (folder / style / "kernel.py").is_file())


def read(task: str, style: str, family: str = "numba") -> Submission:
    """A worked submission; `family` is the part of a target's name before the colon.

    Raises UnknownBaselineError, which lists the styles there are.
    """
    available = styles(task, family)
    if style not in available:
        listed = ", ".join(available) or "none"
        raise UnknownBaselineError(
            f"no {style!r} {family} submission for {task!r}; styles there are: {listed}"
        )
    paths = sorted(path for path in (_ROOT / family / task / style).iterdir() if path.is_file())
    files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    return Submission(task=task, target=family, files=files)
