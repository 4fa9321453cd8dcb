"""Warp operations of whole warps as vector code: those with a constant full mask.

Operands and results are arrays of the frame; a warp's part of one is a vector.
"""

from __future__ import annotations

from .regions import Kernel, result_narrow, value_narrow
from .shells import Shape
from .splitting import BALLOT, REDUCE, SHUFFLE, WARP, Point, constant

_REDUCED = ("add", "umin", "umax", "and", "or", "xor", "smin", "smax")


def is_fast(point: Point, shape: Shape) -> bool:
    """Whether a point is done this way."""
    if point.kind not in (WARP, SHUFFLE, BALLOT, REDUCE) or shape.threads % shape.warp:
        return False
    mask = constant(point.operands["mask"])
    full = (1 << shape.warp) - 1
    if mask is None or mask & full != full:
        return False
    if point.kind != SHUFFLE:
        return True
    return constant(point.operands["arg"]) is not None and _sources(point, shape) is not None


def _sources(point: Point, shape: Shape) -> list[int] | None:
    """Lane → the lane that it reads; None: not constant."""
    width, arg = constant(point.operands["width"]), constant(point.operands["arg"])
    if width is None or arg is None or width not in (1, 2, 4, 8, 16, 32, 64):
        return None
    width, arg = min(width, shape.warp), arg & 0xFFFFFFFF
    found = []
    for lane in range(shape.warp):
        first, last = lane & ~(width - 1), lane | (width - 1)
        match constant(point.operands["op"]):
            case 0:
                source = first | (arg & (width - 1))
            case 1:
                source = lane - arg if arg <= lane - first else lane
            case 2:
                source = lane + arg if arg <= last - lane else lane
            case _:
                source = lane ^ arg if lane ^ arg <= last else lane
        found.append(source)
    return found


def fast(kernel: Kernel, point: Point, shape: Shape) -> list[str]:
    """The function that does a point for warps from one number to below another."""
    if point.kind == WARP:
        return []
    fixed = kernel.frame.fixed
    warp = shape.warp
    given = "i32" if value_narrow(kernel, point) else "i64"
    wanted = "i32" if result_narrow(kernel, point) else "i64"
    values = "narrow_value" if given == "i32" else "value"
    results = "narrow_result" if wanted == "i32" else "result"
    pointer = [
        "  %at = getelementptr inbounds i8, ptr %c, i64 16",
        "  %spill = load ptr, ptr %at, align 8",
        f"  %values = getelementptr inbounds i8, ptr %spill, i64 {fixed[values]}",
        f"  %results = getelementptr inbounds i8, ptr %spill, i64 {fixed[results]}",
    ]
    operation = constant(point.operands["value"]) if "value" in point.operands else None
    vector = f"<{warp} x {given}>"
    load = f"  %v = load {vector}, ptr %from, align 64"
    if operation is not None:
        load = f"  %v = add {vector} zeroinitializer, splat ({given} {operation})"
    return [
        f"define internal void @simt_fast_{point.number}(ptr %c, i64 %low, i64 %high) {{",
        "head:",
        *pointer,
        "  br label %loop",
        "loop:",
        "  %w = phi i64 [ %low, %head ], [ %w1, %loop ]",
        f"  %t = mul nuw nsw i64 %w, {warp}",
        f"  %from = getelementptr inbounds {given}, ptr %values, i64 %t",
        f"  %to = getelementptr inbounds {wanted}, ptr %results, i64 %t",
        load,
        *_operation(point, shape, given, wanted),
        f"  store <{warp} x {wanted}> %r, ptr %to, align 64",
        "  %w1 = add nuw nsw i64 %w, 1",
        "  %over = icmp eq i64 %w1, %high",
        "  br i1 %over, label %done, label %loop",
        "done:",
        "  ret void",
        "}",
    ]


def _operation(point: Point, shape: Shape, given: str, wanted: str) -> list[str]:
    """%r from %v."""
    warp = shape.warp
    vector = f"<{warp} x {given}>"
    if point.kind == SHUFFLE:
        lanes = ", ".join(f"i32 {lane}" for lane in _sources(point, shape) or ())
        lines = [f"  %m = shufflevector {vector} %v, {vector} poison, <{warp} x i32> <{lanes}>"]
        return [*lines, *_resized("%m", "%r", given, wanted, f"<{warp} x ", ">")]
    if point.kind == BALLOT:
        lines = [
            f"  %b = icmp ne {vector} %v, zeroinitializer",
            f"  %n = bitcast <{warp} x i1> %b to i{warp}",
        ]
        return [*lines, *_resized("%n", "%o", f"i{warp}", wanted), *_splat(wanted, warp)]
    name = _REDUCED[constant(point.operands["op"]) or 0]
    wide = f"<{warp} x i64>"
    lines = _resized("%v", "%l", given, "i64", f"<{warp} x ", ">")
    lines.append(f"  %n = call i64 @llvm.vector.reduce.{name}.v{warp}i64({wide} %l)")
    return [*lines, *_resized("%n", "%o", "i64", wanted), *_splat(wanted, warp)]


def _resized(
    value: str, name: str, given: str, wanted: str, before: str = "", after: str = ""
) -> list[str]:
    old, new = f"{before}{given}{after}", f"{before}{wanted}{after}"
    if given == wanted:
        zero = "zeroinitializer" if before else "0"
        return [f"  {name} = add {old} {value}, {zero}"]
    code = "zext" if int(given[1:]) < int(wanted[1:]) else "trunc"
    return [f"  {name} = {code} {old} {value} to {new}"]


def _splat(kind: str, warp: int) -> list[str]:
    return [
        f"  %e = insertelement <{warp} x {kind}> poison, {kind} %o, i64 0",
        f"  %r = shufflevector <{warp} x {kind}> %e, <{warp} x {kind}> poison, "
        f"<{warp} x i32> zeroinitializer",
    ]
