"""What a reply says of a bound mode that the server wraps around a kernel: fields and one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from kernels.records import ModeOutcome
from sz_mcp.replies import MeasuredReply, RunReply

_ACHIEVED = {
    "pw_rel": "largest |x − x'| / |x| {}",
    "psnr": "{} dB",
    "l2norm": "norm of the error {}",
    "ratio": "ratio {}",
}
"""Mode → what was achieved, in words."""
_INFINITE = "nothing differs"


class ModeFields(TypedDict):
    """The fields of a reply that only some modes have."""

    achieved: float | None
    reached: bool | None
    tries: int | None
    side_bytes: int | None


def mode_fields(outcome: ModeOutcome | None) -> ModeFields:
    """All None in modes abs and rel."""
    if outcome is None:
        return ModeFields(achieved=None, reached=None, tries=None, side_bytes=None)
    return ModeFields(
        achieved=outcome.achieved,
        reached=outcome.reached,
        tries=outcome.tries,
        side_bytes=outcome.side_bytes,
    )


def mode_line(reply: MeasuredReply) -> Iterator[str]:
    """What was achieved, and how the absolute bound came about; nothing in modes abs and rel."""
    if reply.tries is None or reply.reached is None or reply.bound is None:
        return
    achieved = _INFINITE
    if reply.achieved is not None:
        achieved = _ACHIEVED[reply.mode].format(f"{reply.achieved:.5g}")
    missed = "" if reply.reached else "NOT reached, the nearest is "
    ranked = "" if reply.reached or not isinstance(reply, RunReply) else "; it is not ranked"
    bound = "" if reply.abs_bound is None else f"{reply.abs_bound:.4g}"
    if reply.mode == "pw_rel":
        given = f" with absolute bound {bound}" if isinstance(reply, RunReply) else ""
        how = f"the kernel was given log2 |x|{given}, side data {reply.side_bytes} bytes"
    else:
        how = f"at absolute bound {bound}, found in {reply.tries} tries"
    yield f"mode {reply.mode} {reply.bound:g}: {missed}{achieved}; {how}{ranked}"
