"""Registers of WSE-2's router that a program reaches by addresses of its memory.

One word for each colour's routes, and one for its switch, behind all that memory holds. Addresses
and bits are those that the comments of a published example give (csl-examples, spmv-hypersparse,
allreduce2R1E/pe.csl); what they leave open (bits 10, 11, 14 and 15 of routes) reads as zero and
is not written. The meaning of pop modes' numbers is that of `PopMode`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .fabric import node_of, set_position, set_routes, set_switch_mode
from .fabric_layout import (
    F_POP_SHIFT,
    F_RING,
    N_FLAGS,
    N_POSITION,
    N_SPEC,
    S_BITS,
    S_HAS_RX,
    S_HAS_TX,
    S_TX,
    S_VALID,
)
from .state_layout import H_WSE

Flat = npt.NDArray[np.int64]

REGISTERS = 0x7F20 * 2
"""In bytes: of colour 0's routes."""
SWITCHES = 0x7F40 * 2
"""Of colour 0's switch."""
COLORS = 24
INVALID = 5
"""A switch's position that is none."""
_INPUTS_SHIFT, _POP_SHIFT = 5, 12
_POSITIONS_BITS, _INPUT_SELECT = 4, 8
_RING_SHIFT, _CURRENT_SHIFT = 12, 13


@compiled
def is_register(S: Flat, where: int, size: int) -> bool:
    """Whether a register, and not memory, is at an address."""
    if where < REGISTERS or where & 1 or size != 2 or S[H_WSE] != 2:
        return False
    if where < SWITCHES:
        return bool(where < REGISTERS + 2 * COLORS)
    return bool(where < SWITCHES + 2 * COLORS)


@compiled
def _to_register(ports: int) -> int:
    """Ports as a register has them, west, east, south, north, ramp, from `Port`'s bits."""
    return (ports >> 3 & 1) | (ports >> 1 & 2) | (ports << 1 & 4) | (ports << 3 & 8) | (ports & 16)


@compiled
def _from_register(bits: int) -> int:
    """`Port`'s bits."""
    return (bits << 3 & 8) | (bits << 1 & 4) | (bits >> 1 & 2) | (bits >> 3 & 1) | (bits & 16)


@compiled
def _direction(ports: int) -> int:
    """The first of a register's ports, as a number."""
    bits = _to_register(ports)
    for number in range(5):
        if bits >> number & 1:
            return number
    return INVALID


@compiled
def _routes(F: Flat, node: int) -> int:
    spec = F[node + N_SPEC]
    found = _to_register(spec >> S_TX & 31) | _to_register(spec & 31) << _INPUTS_SHIFT
    return int(found | (F[node + N_FLAGS] >> F_POP_SHIFT & 3) << _POP_SHIFT)


@compiled
def _switch(F: Flat, node: int) -> int:
    found = F[node + N_POSITION] << _CURRENT_SHIFT
    if F[node + N_FLAGS] & F_RING:
        found |= 1 << _RING_SHIFT
    for p in range(1, 4):
        part = F[node + N_SPEC] >> (p * S_BITS)
        field = INVALID
        if part & S_VALID and part & S_HAS_RX:
            field = _direction(part & 31) | _INPUT_SELECT
        elif part & S_VALID and part & S_HAS_TX:
            field = _direction(part >> S_TX & 31)
        elif part & S_HAS_RX:
            field |= _INPUT_SELECT
        found |= field << (p - 1) * _POSITIONS_BITS
    return int(found)


@compiled
def read_register(F: Flat, pe: int, where: int) -> int:
    """A register's word; zero of a colour that the PE has no route of."""
    switch = where >= SWITCHES
    node = node_of(F, pe, (where - (SWITCHES if switch else REGISTERS)) >> 1)
    if node == 0:
        return 0
    return _switch(F, node) if switch else _routes(F, node)


@compiled
def _set_routes(F: Flat, pe: int, color: int, value: int, changed: int) -> None:
    if changed & 0x3FF:
        inputs = _from_register(value >> _INPUTS_SHIFT & 31)
        set_routes(F, pe, color, 0, inputs, _from_register(value & 31))
    if changed >> _POP_SHIFT & 3:
        set_switch_mode(F, pe, color, -1, value >> _POP_SHIFT & 3)


@compiled
def _set_switch(F: Flat, pe: int, color: int, value: int, changed: int) -> None:
    node = node_of(F, pe, color)
    for p in range(1, 4):
        shift = (p - 1) * _POSITIONS_BITS
        if not changed >> shift & 15:
            continue
        field = value >> shift & 15
        direction = field & 7
        ports = _from_register(1 << direction) if direction < INVALID else -1
        if field & _INPUT_SELECT:
            set_routes(F, pe, color, p, ports, -1)
            # An invalid position stays one of inputs: programs set its direction alone later.
            F[node + N_SPEC] |= S_HAS_RX << (p * S_BITS)
        else:
            set_routes(F, pe, color, p, -1, ports)
    if changed >> _RING_SHIFT & 1:
        set_switch_mode(F, pe, color, value >> _RING_SHIFT & 1, -1)
    if changed >> _CURRENT_SHIFT & 3:
        set_position(F, pe, color, value >> _CURRENT_SHIFT & 3)


@compiled
def write_register(F: Flat, pe: int, where: int, value: int) -> None:
    """Set what of a register is not as it was."""
    switch = where >= SWITCHES
    color = (where - (SWITCHES if switch else REGISTERS)) >> 1
    node = node_of(F, pe, color)
    if node == 0:
        return
    if switch:
        _set_switch(F, pe, color, value, _switch(F, node) ^ value)
    else:
        _set_routes(F, pe, color, value, _routes(F, node) ^ value)
