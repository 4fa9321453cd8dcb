"""What an agent is told at the start: a text per prompt tier, filled in for one cell.

The texts are files beside here, so that an experiment can be repeated with the same words; their
hashes are part of what a bench records.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from string import Template
from typing import get_args

from kernels.tasks import TASKS
from sz_mcp.bench.cells import Cell
from sz_mcp.bench.spec import Budget, Tier

_FOLDER = Path(__file__).parent / "prompts"
_MODES = {
    "rel": "the largest error may be $value times the field's value range (mode rel)",
    "abs": "the largest error may be $value in the field's unit (mode abs)",
    "pw_rel": "each value's error may be $value times its magnitude (mode pw_rel)",
    "psnr": "the PSNR must be at least $value dB (mode psnr)",
    "l2norm": "the L2 norm of the error may be $value (mode l2norm)",
    "ratio": "the ratio must be at least $value (mode ratio)",
}


def prompt_for(cell: Cell, budget: Budget) -> str:
    """The whole text. Only for cells whose agents read prompts."""
    tier = cell.prompt_tier or "user"
    task = TASKS[cell.task]
    kind = "stage" if task.functions == ("run",) else "codec"
    text = _text(tier, kind)
    return Template(text).substitute(
        task=cell.task,
        summary=task.summary.rstrip("."),
        target=cell.target,
        field=cell.field,
        mode=cell.bound.mode,
        bound=f"{cell.bound.value:g}",
        asked=Template(_MODES[cell.bound.mode]).substitute(value=f"{cell.bound.value:g}"),
        budget=_allowance(budget),
    )


def digests() -> dict[str, str]:
    """File name → SHA-256 of every text."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(_FOLDER.glob("*.md"))
    }


def _text(tier: Tier, kind: str) -> str:
    """What the tiers share, then what the tier adds."""
    if tier not in get_args(Tier):
        raise ValueError(f"no prompt tier {tier!r}")
    names = ("task.md", f"{tier}-{kind}.md", "end.md")
    parts = [(_FOLDER / name).read_text(encoding="utf-8").strip() for name in names]
    return "\n\n".join(part for part in parts if part) + "\n"


def _allowance(budget: Budget) -> str:
    limits = {
        "calls of compile_kernel, verify_bounds, run_compress and profile together": budget.calls,
        "minutes": budget.minutes,
        "tokens": budget.tokens,
        "dollars": budget.dollars,
    }
    told = [f"{most:g} {what}" for what, most in limits.items() if most is not None]
    return f"You have {', '.join(told)}." if told else "You may take as long as you need."
