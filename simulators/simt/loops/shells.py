"""Loops over threads around a region's code: over a whole block, and over a range of its threads.

The loop over a whole block has a constant number of turns; if a row of the block is long enough,
it is a loop over rows around one over the threads of a row, whose accesses are then contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass

from .regions import LATCH, Kernel, Region
from .symbols import context_lines, dynamic_offset

_LEAST_ROW = 8
_LONG_ROW = 64
_FIXED = ", !invariant.load !0"
_LOOP = ", !llvm.loop !2"
_SHORT_LOOP = ", !llvm.loop !4"
"""Not unrolled: that comes before vectors are made."""


@dataclass(frozen=True)
class Shape:
    """How a block's threads are gone through."""

    block: tuple[int, int, int]
    warp: int
    descending: bool

    @property
    def threads(self) -> int:
        """Of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def rows(self) -> bool:
        """Whether its rows are gone through one by one."""
        x, y, z = self.block
        return y * z > 1 and x >= _LEAST_ROW


def whole(kernel: Kernel, region: Region, shape: Shape) -> list[str]:
    """The function that runs a region for all threads of a block."""
    lines = [f"define internal void @simt_whole_{region.number}(ptr %simt..context) #900 {{"]
    lines += _head(kernel, region)
    loop = _rows(shape, region) if shape.rows else _flat(shape, region)
    lines += loop.opening
    lines += region.body
    lines += [f"{LATCH}:", *_states(region, always=False)]
    return [*lines, *loop.closing, "simt..done:", "  ret void", "}"]


def ranged(kernel: Kernel, region: Region, shape: Shape) -> list[str]:
    """The function that runs a region for threads from low to below high."""
    name = f"@simt_range_{region.number}"
    lines = [
        f"define internal void {name}(ptr %simt..context, i32 %simt..low, i32 %simt..high) #901 {{"
    ]
    lines += _head(kernel, region)
    lines += [
        "  %simt..low64 = zext i32 %simt..low to i64",
        "  %simt..high64 = zext i32 %simt..high to i64",
        "  %simt..count = sub nuw nsw i64 %simt..high64, %simt..low64",
        "  %simt..last = sub nsw i64 %simt..high64, 1",
        "  br label %simt..loop",
        "simt..loop:",
        f"  %simt..i = phi i64 [ 0, %simt..head ], [ %simt..i1, %{LATCH} ]",
        "  %simt..t64 = sub nsw i64 %simt..last, %simt..i" if shape.descending else
        "  %simt..t64 = add nuw nsw i64 %simt..low64, %simt..i",
        "  %simt..t = trunc i64 %simt..t64 to i32",
        *_places(shape),
        "  br label %simt..start",
    ]  # fmt: skip
    lines += region.body
    lines += [
        f"{LATCH}:",
        *_states(region, always=True),
        *_again("simt..count", region.parallel),
        "simt..done:", "  ret void", "}",
    ]  # fmt: skip
    return lines


@dataclass(frozen=True)
class _Loop:
    """Lines around a region's code."""

    opening: list[str]
    closing: list[str]


def _head(kernel: Kernel, region: Region) -> list[str]:
    lines = ["simt..head:", *context_lines(dynamic_offset(kernel.symbols.shared_bytes))]
    for index, (name, kind) in enumerate(kernel.arguments):
        lines += [
            f"  %simt..param{index} = getelementptr inbounds ptr, ptr %simt..params, i64 {index}",
            f"  %simt..from{index} = load ptr, ptr %simt..param{index}, align 8{_FIXED}",
            f"  %{name} = load {kind}, ptr %simt..from{index}, align 1{_FIXED}"
            if kind != "bytes" else f"  %{name} = getelementptr i8, ptr %simt..from{index}, i64 0",
        ]  # fmt: skip
    return [*lines, *kernel.symbols.lines, *kernel.private, *region.head]


def _states(region: Region, *, always: bool) -> list[str]:
    """Where the thread waits now."""
    if len(region.targets) < 2 and not always:
        return []
    incoming = ", ".join(f"[ {point}, %{block} ]" for block, point in region.exits)
    return [
        f"  %simt..next = phi i32 {incoming}",
        "  %simt..mine = getelementptr inbounds i32, ptr %simt..state, i64 %simt..t64",
        "  store i32 %simt..next, ptr %simt..mine, align 4, !llvm.access.group !1",
    ]


def _again(count: str, parallel: bool) -> list[str]:
    limit = f"%{count}" if not count.isdigit() else count
    return [
        "  %simt..i1 = add nuw nsw i64 %simt..i, 1",
        f"  %simt..over = icmp eq i64 %simt..i1, {limit}",
        f"  br i1 %simt..over, label %simt..done, label %simt..loop{_LOOP if parallel else ''}",
    ]


def _flat(shape: Shape, region: Region) -> _Loop:
    last = shape.threads - 1
    opening = [
        "  br label %simt..loop",
        "simt..loop:",
        f"  %simt..i = phi i64 [ 0, %simt..head ], [ %simt..i1, %{LATCH} ]",
        f"  %simt..t64 = sub nuw nsw i64 {last}, %simt..i" if shape.descending else
        "  %simt..t64 = add nuw nsw i64 %simt..i, 0",
        "  %simt..t = trunc nuw nsw i64 %simt..t64 to i32",
        *_places(shape),
        "  br label %simt..start",
    ]  # fmt: skip
    return _Loop(opening, _again(str(shape.threads), region.parallel))


def _places(shape: Shape) -> list[str]:
    """Coordinates of a thread from its number."""
    x, y, z = shape.block
    lines = [f"  %simt..lane = and i32 %simt..t, {shape.warp - 1}"]
    if y * z == 1:
        return [
            *lines,
            "  %simt..tid0 = add nuw nsw i32 %simt..t, 0",
            "  %simt..tid1 = add i32 0, 0",
            "  %simt..tid2 = add i32 0, 0",
        ]
    return [
        *lines,
        f"  %simt..tid0 = urem i32 %simt..t, {x}",
        f"  %simt..row = udiv i32 %simt..t, {x}",
        f"  %simt..tid1 = urem i32 %simt..row, {y}",
        f"  %simt..tid2 = udiv i32 %simt..row, {y}",
    ]


def _rows(shape: Shape, region: Region) -> _Loop:
    x, y, z = shape.block
    short = _SHORT_LOOP if x <= _LONG_ROW else _LOOP
    parallel = short if region.parallel else ""
    opening = [
        "  br label %simt..rows",
        "simt..rows:",
        "  %simt..j = phi i64 [ 0, %simt..head ], [ %simt..j1, %simt..row.done ]",
        f"  %simt..row64 = sub nuw nsw i64 {y * z - 1}, %simt..j" if shape.descending else
        "  %simt..row64 = add nuw nsw i64 %simt..j, 0",
        "  %simt..row = trunc nuw nsw i64 %simt..row64 to i32",
        f"  %simt..tid1 = urem i32 %simt..row, {y}",
        f"  %simt..tid2 = udiv i32 %simt..row, {y}",
        f"  %simt..first = mul nuw nsw i64 %simt..row64, {x}",
        "  br label %simt..loop",
        "simt..loop:",
        f"  %simt..i = phi i64 [ 0, %simt..rows ], [ %simt..i1, %{LATCH} ]",
        f"  %simt..x64 = sub nuw nsw i64 {x - 1}, %simt..i" if shape.descending else
        "  %simt..x64 = add nuw nsw i64 %simt..i, 0",
        "  %simt..tid0 = trunc nuw nsw i64 %simt..x64 to i32",
        "  %simt..t64 = add nuw nsw i64 %simt..first, %simt..x64",
        "  %simt..t = trunc nuw nsw i64 %simt..t64 to i32",
        f"  %simt..lane = and i32 %simt..t, {shape.warp - 1}",
        "  br label %simt..start",
    ]  # fmt: skip
    closing = [
        "  %simt..i1 = add nuw nsw i64 %simt..i, 1",
        f"  %simt..over = icmp eq i64 %simt..i1, {x}",
        f"  br i1 %simt..over, label %simt..row.done, label %simt..loop{parallel}",
        "simt..row.done:",
        "  %simt..j1 = add nuw nsw i64 %simt..j, 1",
        f"  %simt..all = icmp eq i64 %simt..j1, {y * z}",
        "  br i1 %simt..all, label %simt..done, label %simt..rows",
    ]
    return _Loop(opening, closing)
