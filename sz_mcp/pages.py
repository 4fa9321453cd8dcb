"""The page of a task as an agent reads it: what is asked, then a complete submission."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernels import baselines
from kernels.records import Submission

if TYPE_CHECKING:
    from kernels.tasks import Task

_LANGUAGES = {".py": "python", ".cu": "cuda", ".hip": "hip", ".csl": "csl"}
"""Suffix → what its code block is marked as."""
_SHOWN = "numba"
"""The family whose example stands in the page: it runs on every machine."""


def task_page(task: Task) -> str:
    """The task's own text, its simplest worked submission, and where those of other targets are."""
    found = {family: baselines.styles(task.name, family) for family in baselines.families()}
    shown = _example(baselines.read(task.name, found[_SHOWN][0], _SHOWN))
    others = [
        f"sz-mcp://baselines/{family}/{task.name}/{styles[0]}"
        for family, styles in found.items()
        if styles and family != _SHOWN
    ]
    more = [f"Examples for other targets: {', '.join(others)}", ""] if others else []
    return "\n".join([task.page.rstrip() + "\n", shown, *more])


def _example(submission: Submission) -> str:
    family, task = submission.target, submission.task
    lines = [
        f"## Complete example: {family}",
        "",
        f"A first attempt that is right, not fast: compile_kernel takes it as `files` with "
        f'task="{task}" and a target of the family {family}.',
        "",
    ]
    for name, text in submission.files.items():
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        suffix = name[name.rfind(".") :]
        lines += [f"### {name}", "", f"{fence}{_LANGUAGES.get(suffix, 'text')}"]
        lines += [text.rstrip("\n"), fence, ""]
    return "\n".join(lines)
