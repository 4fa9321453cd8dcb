"""The way of a block through its suspension points while all its threads agree.

Where they do not, the runtime takes over (runtime.c), by tables that are made here.
"""

from __future__ import annotations

from collections.abc import Sequence

from .collectives import fast, is_fast
from .regions import Kernel, Region, result_narrow, value_narrow
from .shells import Shape
from .splitting import ACTIVE, BLOCK, COUNT, WARP, YIELD, Point, constant

_OFFSETS = (
    "state", "value", "narrow_value", "mask", "arg", "width", "result", "narrow_result",
)  # fmt: skip


def driver(kernel: Kernel, regions: Sequence[Region], shape: Shape) -> list[str]:
    """Functions and tables."""
    points = kernel.split.points
    lines = [*_layout(kernel, shape), *_sites(kernel, shape), *_agree(shape)]
    for point in points:
        if is_fast(point, shape):
            lines += fast(kernel, point, shape)
    return [*lines, *_block(regions, points, shape), *_range(points), *_warp(points, shape)]


def needs_ranges(regions: Sequence[Region], points: Sequence[Point], shape: Shape) -> bool:
    """Whether threads may disagree at all."""
    sure = all(len(region.targets) < 2 for region in regions)
    return not (sure and all(_never_fails(point, shape) for point in points))


def _never_fails(point: Point, shape: Shape) -> bool:
    return point.kind in (BLOCK, COUNT, ACTIVE, YIELD) or is_fast(point, shape)


def _layout(kernel: Kernel, shape: Shape) -> list[str]:
    fixed = kernel.frame.fixed
    warps = -(-shape.threads // shape.warp)
    numbers = [shape.threads, shape.warp, warps, int(shape.descending)]
    numbers += [fixed[name] for name in _OFFSETS]
    fields = ", ".join(f"i32 {number}" for number in numbers)
    kinds = ", ".join("i32" for _ in numbers)
    return [f"@simt_layout = constant {{ {kinds} }} {{ {fields} }}, align 4"]


def _sites(kernel: Kernel, shape: Shape) -> list[str]:
    rows = ["{ i32, i32, i32, i32, i32, i32, i64 } zeroinitializer"]
    for point in kernel.split.points:
        flags, values = 0, {}
        for bit, name in ((1, "mask"), (2, "arg"), (4, "width")):
            value = constant(point.operands.get(name, "0"))
            flags |= bit if value is None else 0
            values[name] = value or 0
        flags |= 8 if value_narrow(kernel, point) else 0
        flags |= 16 if result_narrow(kernel, point) else 0
        numbers = (
            point.kind, point.line, constant(point.operands.get("op", "0")) or 0, flags,
            values["arg"], values["width"] or shape.warp,
        )  # fmt: skip
        fields = ", ".join(f"i32 {number}" for number in numbers)
        rows.append(f"{{ i32, i32, i32, i32, i32, i32, i64 }} {{ {fields}, i64 {values['mask']} }}")
    kind = f"[{len(rows)} x {{ i32, i32, i32, i32, i32, i32, i64 }}]"
    return [f"@simt_sites = constant {kind} [{', '.join(rows)}], align 8"]


def _agree(shape: Shape) -> list[str]:
    """Where all threads are; -1: not all at one point."""
    return [
        "define internal i32 @simt_together(ptr %c) {",
        "head:",
        "  %at = getelementptr inbounds i8, ptr %c, i64 40",
        "  %state = load ptr, ptr %at, align 8",
        "  %first = load i32, ptr %state, align 4",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %head ], [ %i1, %loop ]",
        "  %other = phi i32 [ 0, %head ], [ %now, %loop ]",
        "  %p = getelementptr inbounds i32, ptr %state, i64 %i",
        "  %s = load i32, ptr %p, align 4",
        "  %x = xor i32 %s, %first",
        "  %now = or i32 %other, %x",
        "  %i1 = add nuw nsw i64 %i, 1",
        f"  %over = icmp eq i64 %i1, {shape.threads}",
        "  br i1 %over, label %done, label %loop",
        "done:",
        "  %same = icmp eq i32 %now, 0",
        "  %r = select i1 %same, i32 %first, i32 -1",
        "  ret i32 %r",
        "}",
    ]


def _block(regions: Sequence[Region], points: Sequence[Point], shape: Shape) -> list[str]:
    lines = ["define void @simt_block(ptr %c) {", "  br label %run0"]
    for region in regions:
        number = region.number
        lines += [f"run{number}:", f"  call void @simt_whole_{number}(ptr %c)"]
        targets = region.targets
        if len(targets) == 1:
            lines.append(f"  br label %{_label(targets[0])}")
            continue
        cases = " ".join(f"i32 {point}, label %{_label(point)}" for point in targets)
        lines += [
            f"  %n{number} = call i32 @simt_together(ptr %c)",
            f"  switch i32 %n{number}, label %slow [ {cases} ]",
        ]
    for point in points:
        lines += _at(point, shape)
    cases = " ".join(
        f"i32 {p.number}, label %run{p.number}" for p in points if p.kind in (BLOCK, COUNT)
    )
    return [
        *lines,
        "slow:",
        "  %s = call i32 @simt_slow(ptr %c)",
        f"  switch i32 %s, label %done [ {cases} ]",
        "done:",
        "  ret void",
        "}",
    ]


def _label(point: int) -> str:
    return f"at{point}" if point else "done"


def _at(point: Point, shape: Shape) -> list[str]:
    """All threads wait at a point."""
    n = point.number
    lines = [f"at{n}:"]
    if point.kind in (BLOCK, COUNT, YIELD):
        lines += [
            f"  %over{n} = call i32 @simt_over(ptr %c, i32 {n}, i32 0)",
            f"  %off{n} = icmp ne i32 %over{n}, 0",
            f"  br i1 %off{n}, label %done, label %on{n}",
            f"on{n}:",
        ]
    if point.kind in (BLOCK, YIELD) or (point.kind == WARP and is_fast(point, shape)):
        return [*lines, f"  br label %run{n}"]
    if is_fast(point, shape):
        warps = shape.threads // shape.warp
        call = f"  call void @simt_fast_{n}(ptr %c, i64 0, i64 {warps})"
        return [*lines, call, f"  br label %run{n}"]
    return [
        *lines,
        f"  %all{n} = call i32 @simt_all(ptr %c, i32 {n})",
        f"  %well{n} = icmp ne i32 %all{n}, 0",
        f"  br i1 %well{n}, label %run{n}, label %apart{n}",
        f"apart{n}:",
        f"  call void @simt_same(ptr %c, i32 {n})",
        "  br label %slow",
    ]


def _range(points: Sequence[Point]) -> list[str]:
    lines = ["define void @simt_range(ptr %c, i32 %site, i32 %low, i32 %high) {"]
    cases = " ".join(f"i32 {p.number}, label %s{p.number}" for p in points)
    lines.append(f"  switch i32 %site, label %none [ {cases} ]")
    for p in points:
        call = f"  call void @simt_range_{p.number}(ptr %c, i32 %low, i32 %high)"
        lines += [f"s{p.number}:", call, "  ret void"]
    return [*lines, "none:", "  ret void", "}"]


def _warp(points: Sequence[Point], shape: Shape) -> list[str]:
    """A warp operation of a whole warp, where there is a fast way: whether there is."""
    quick = [p for p in points if is_fast(p, shape)]
    lines = ["define i32 @simt_warp(ptr %c, i32 %site, i32 %warp) {"]
    lines.append("  %w = zext i32 %warp to i64")
    lines.append("  %w1 = add i64 %w, 1")
    cases = " ".join(f"i32 {p.number}, label %s{p.number}" for p in quick)
    lines.append(f"  switch i32 %site, label %none [ {cases} ]")
    for p in quick:
        lines.append(f"s{p.number}:")
        if p.kind != WARP:
            lines.append(f"  call void @simt_fast_{p.number}(ptr %c, i64 %w, i64 %w1)")
        lines.append("  ret i32 1")
    return [*lines, "none:", "  ret i32 0", "}"]
