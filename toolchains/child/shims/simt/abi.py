"""What compiled kernels and who launches them agree on: structures, status codes, meta keys.

An object exports `void simt_entry(SimtLaunch *, SimtWorker *)`. It claims blocks in ascending order
by an atomic add on `next`, until none is left, `status` is not 0 or `stop` is not 0. Any number of
threads may be in it at a time, each with a worker of its own. Who finds a failure swaps `status`
from 0 to CLAIMED, writes `detail`, and then stores the code; later failures are dropped.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

ENTRY = "simt_entry"


class Status(IntEnum):
    """Codes of `SimtLaunch.status`. `detail` is line, block, thread, and then what is said here."""

    CLAIMED = -1
    """Somebody is writing `detail`."""
    OK = 0
    STOPPED = 1
    """`stop` was set while a thread waited or spun at that line."""
    TRAP = 2
    """A failed assert or a trap; then its code (1 assert, 2 trap)."""
    DIVERGENT = 3
    """Threads of a block wait at barriers of different lines; then the other line and thread."""
    DEADLOCK = 4
    """A thread waits for others that exited or wait elsewhere; then line and thread of one of those
    (line 0: it exited), and the mask it waits with."""
    MASK = 5
    """A warp operation whose mask lacks the calling lane, or for which lanes of the same mask
    disagree; then the mask."""
    OUT_OF_BOUNDS = 6
    """An access outside every allocation; then address, bytes, and 1 for a write."""
    MISALIGNED = 7
    """As OUT_OF_BOUNDS."""
    UNINITIALISED = 8
    """Shared memory that is read before it was written; then offset and bytes."""
    STACK = 9
    """A thread's stack is exhausted (fibers)."""


class TrapCode(IntEnum):
    """Second argument of `__simt_trap`."""

    ASSERT = 1
    TRAP = 2


class SimtLaunch(ctypes.Structure):
    """One launch, shared by its workers."""

    _fields_ = (
        ("next", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("dynamic_shared", ctypes.c_uint64),
        # One pointer per argument value, in the order of meta["params"].
        ("params", ctypes.c_void_p),
        # The address of each module global, in the order of meta["globals"].
        ("globals", ctypes.c_void_p),
        ("status", ctypes.c_int64),
        ("detail", ctypes.c_uint64 * 6),
        ("stop", ctypes.c_uint64),
        # A Hooks, for variants with hooks; otherwise null.
        ("hooks", ctypes.c_void_p),
    )


class SimtWorker(ctypes.Structure):
    """Memory of one worker. Every address is a multiple of 64."""

    _fields_ = (
        # Static shared memory first, then, from the next multiple of 16, dynamic.
        ("shared", ctypes.c_void_p),
        ("shared_bytes", ctypes.c_uint64),
        ("spill", ctypes.c_void_p),
        ("spill_bytes", ctypes.c_uint64),
        # stack_bytes of meta for every thread of a block.
        ("stacks", ctypes.c_void_p),
        ("stack_bytes", ctypes.c_uint64),
        ("index", ctypes.c_uint64),
    )


class Allocation(ctypes.Structure):
    """Memory that a kernel may touch."""

    _fields_ = (("start", ctypes.c_uint64), ("end", ctypes.c_uint64))


class Trace(ctypes.Structure):
    """What the sampled blocks of one worker did, one after the other (counting.RECORD)."""

    _fields_ = (
        ("records", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("capacity", ctypes.c_uint64),
        # 1: the last block is cut off; 2: blocks were left out; 3: both.
        ("lost", ctypes.c_uint64),
    )


class Hooks(ctypes.Structure):
    """What variants with hooks get: for `checked`, allocations in ascending order of address."""

    _fields_ = (
        ("count", ctypes.c_uint64),
        ("allocations", ctypes.c_void_p),
        # Bit per byte of shared memory of the worker, or null: which were written in this block.
        ("written", ctypes.c_void_p),
        # For `counted`: what part of the blocks is sampled, of 2^32, and a Trace per worker.
        ("threshold", ctypes.c_uint64),
        ("traces", ctypes.c_void_p),
    )


META_KEYS = (
    "kernel",  # symbol
    "file",  # that lines are of
    "engine",  # loops | fibers
    "reason",  # why not loops; "" for loops
    "params",  # [{name, size, align, pointer}]
    "globals",  # [{name, symbol, size, align, constant, init (base64)}]: all of the module's
    "shared_bytes",  # static shared memory
    "spill_bytes",  # of a worker
    "stack_bytes",  # of one thread of a block; 0 for loops
    "block",  # [x, y, z]
    "descending",
    "hooks",  # none | checked | counted
    "warp",  # 32 | 64
    "sites",  # counted: [kind, bytes, line, file, ordered, valued] of each access and branch
    "lockstep",  # counted: whether lanes of a warp need no __syncwarp
)
