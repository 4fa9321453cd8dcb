"""The 32 bits of a control wavelet: up to eight commands for switches, a task, 16 bits of data.

Commands are for one router after the other along the path; a router that pops the first one moves
the rest forward. A command has two bits of opcode and one that keeps the wavelet from the PE
(ce_ignore). Bits: 0-15 data, overlapped by commands 2-7; 16-21 task; 22-24 command 0; 25-27 command
1; 28-29 opcode and 0 ce_ignore of command 2; 1-3, 4-6, 7-9, 10-12, 13-15 commands 3 to 7. So the
vendor's examples build them (csl-examples: 25-pt-stencil, cholesky, fft-1d-2d, spmv-hypersparse).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from .compiling import compiled


class Opcode(IntEnum):
    """What a command does to the switch."""

    NOP = 0
    SWITCH_ADV = 1
    SWITCH_RST = 2
    TEARDOWN = 3


IGNORE = 4
"""A command's ce_ignore."""
NO_TASK = 31
"""The colour that is none, in place of a task."""
TASK_SHIFT = 16
COMMAND_SHIFTS: tuple[tuple[int, int], ...] = (
    (22, 24),
    (25, 27),
    (28, 0),
    (1, 3),
    (4, 6),
    (7, 9),
    (10, 12),
    (13, 15),
)
"""Per command where its opcode begins and where its ce_ignore is."""


def encode_commands(commands: Sequence[int], task: int = NO_TASK, data: int = 0) -> int:
    """A control wavelet with commands (opcode, plus IGNORE); data only fits one or two of them."""
    word = (task & 63) << TASK_SHIFT | (data & 0xFFFF)
    for command, (opcode, ignore) in zip(commands, COMMAND_SHIFTS, strict=False):
        word |= (command & 3) << opcode | (command >> 2 & 1) << ignore
    return word


def decode_commands(word: int) -> tuple[int, ...]:
    """The eight commands of a control wavelet."""
    return tuple((word >> a & 3) | (word >> b & 1) << 2 for a, b in COMMAND_SHIFTS)


@compiled
def pop_command(word: int) -> int:
    """A control wavelet without its first command; the last one is repeated.

    Only the repetition of ce_ignore is attested (0x9df9249 becomes 0x91f9249 in a comment of
    spmv-hypersparse); the last opcode becomes NOP.
    """
    first = (word >> 25) & 7
    second = ((word >> 28) & 3) | (word & 1) << 2
    third = ((word >> 1) & 3) << 28 | (word >> 3) & 1
    rest = ((word & 0xFFFF) >> 4 << 1) & 0x1FFE | word & 0x8000
    return (word & ~0x3FC0FFFF) | first << 22 | second << 25 | third | rest
