"""DSDs and the operations on them: making and changing DSDs, templates, DSRs, @map."""

from __future__ import annotations

from simulators.wafer.dsd import DsdField, DsdKind, DsrConfig, Operand, Operation, Vector, pack_dsd
from simulators.wafer.opcodes import Op, Scalar
from toolchains.csl import tree, types
from toolchains.csl.source import Span, error
from toolchains.csl.types import DSD_TYPES, DSR_TYPES
from toolchains.csl.values import Dsd, Dsr, FifoValue

from .calls import inline
from .frame import Frame, Label, Spot
from .scalars import is_void
from .symbols import Word

_DSR_CLASS = {
    "dsr_dest": 0,
    "dsr_src0": 1,
    "dsr_src1": 2,
    "dsr_fifo_dest": 0,
    "dsr_fifo_src1": 2,
}
_CURSORS = 8
_ADVANCES = (DsdField.ADVANCE_2, DsdField.ADVANCE_4)


def dsd_make(code: Frame, expr: tree.DsdMake, into: int | None) -> int:
    """What is known, packed; then field by field what isn't."""
    target = code.goal(into)
    saved = code.top
    current = code.fresh()
    code.word(code.unit.naming.word(expr.type, expr.start.data), Scalar.DSD, current)
    for name, value in expr.fields:
        changed = code.fresh()
        code.value(value, changed)
        code.emit(Op.DSD_SET, Scalar.DSD, changed, current, int(name))
        current = changed
    code.move(current, target)
    code.top = saved
    return target


def dsd_update(code: Frame, expr: tree.DsdUpdate, into: int | None) -> int:
    """A DSD with one field changed."""
    target = code.goal(into)
    saved = code.top
    dsd = code.value(expr.dsd)
    changed = code.fresh()
    code.value(expr.value, changed)
    known = isinstance(expr.value, tree.Constant)
    code.code[-1].temporary = known
    step = code.emit(Op.DSD_SET, Scalar.DSD, changed, dsd, int(expr.field))
    step.stepping = known and expr.field in _ADVANCES
    code.move(changed, target)
    code.top = saved
    return target


def vector_op(code: Frame, expr: tree.VectorOp, into: int | None) -> int:
    """Start an operation."""
    target = code.goal(into)
    saved = code.top
    loaded: list[tuple[tree.Expr, int]] = []
    dest = operand(code, expr.dest, loaded)
    sources = tuple(operand(code, source, loaded) for source in expr.sources)
    _mark_second(code, expr.sources)
    sources = _running(code, expr, dest, sources)
    how = expr.behaviour
    index = code.value(how.index) if how.index is not None else -1
    operation = Operation(
        expr.vector,
        dest,
        sources,
        how.asynchronous,
        how.completion,
        code.unit.task_id(how.completion_id, how.completion_task),
        how.on_control,
        code.unit.task_id(how.on_control_id, how.on_control_task),
        index,
        how.microthread,
        how.priority,
        how.simd,
    )
    number = code.unit.operation(operation, expr.span)
    step = code.emit(Op.DSD_OPERATE, Scalar.BOOL, target, 0, number)
    step.descriptors = len(loaded)
    code.top = saved
    return target


def _running(
    code: Frame,
    expr: tree.VectorOp,
    dest: tuple[Operand, int],
    sources: tuple[tuple[Operand, int], ...],
) -> tuple[tuple[Operand, int], ...]:
    """The sources of a reduction: into a pointer, the scalar is only what is begun with.

    `@fmaxs(&most, most, dsd)` leaves the maximum in `most`, as the vendor's 25-pt-stencil needs.
    """
    kind = expr.dest.type
    if not isinstance(kind, types.Pointer) or len(sources) != 2:
        return sources
    if sources[0][0] is not Operand.SCALAR or expr.vector is Vector.FADDHS:
        return sources
    code.store_register(code.scalar(kind.target, expr.span), Spot(dest[1]), sources[0][1])
    return dest, sources[1]


def operand(
    code: Frame, expr: tree.Expr, loaded: list[tuple[tree.Expr, int]]
) -> tuple[Operand, int]:
    """What an operand is and where; `loaded` has the DSDs in registers by then, each once."""
    kind = expr.type
    if isinstance(kind, types.Simple) and kind.name in DSR_TYPES:
        return Operand.DSR, dsr_number(expr)
    if kind == types.FIFO or (isinstance(kind, types.Simple) and kind.name in DSD_TYPES):
        for other, register in loaded:
            if _same(other, expr):
                return Operand.DSD, register
        register = descriptor(code, expr)
        loaded.append((expr, register))
        return Operand.DSD, register
    if isinstance(kind, types.Pointer):
        return Operand.POINTER, code.value(expr)
    return Operand.SCALAR, code.value(expr)


def _mark_second(code: Frame, sources: tuple[tree.Expr, ...]) -> None:
    """Array that is the second source: to be placed where it doesn't meet the first."""
    arrays = []
    for source in sources:
        if isinstance(source, tree.Constant) and isinstance(source.value.data, Dsd):
            symbol = code.unit.naming.dsd(source.value.data).symbol
            if symbol is not None:
                arrays.append(symbol)
    if len(arrays) > 1 and arrays[1] is not arrays[0]:
        arrays[1].phase = 1


def descriptor(code: Frame, expr: tree.Expr) -> int:
    """A packed DSD, also of a FIFO, in a register."""
    if expr.type != types.FIFO:
        return code.value(expr)
    if isinstance(expr, tree.Constant) and isinstance(expr.value.data, FifoValue):
        number = expr.value.data.number
        packed = pack_dsd(DsdKind.FIFO, {DsdField.BASE: number})
        return code.word(Word(packed, None, 16), Scalar.DSD)
    raise error(expr.span, "fifo-not-known", "which FIFO this is must be known while compiling")


def dsr_number(expr: tree.Expr) -> int:
    """Class * 16 + number of a DSR."""
    if isinstance(expr, tree.Constant) and isinstance(expr.value.data, Dsr):
        dsr = expr.value.data
        if dsr.kind in _DSR_CLASS:
            return _DSR_CLASS[dsr.kind] * 16 + dsr.number
    raise error(expr.span, "dsr-not-known", "which DSR this is must be known while compiling")


def _same(left: tree.Expr, right: tree.Expr) -> bool:
    """Whether both are the same DSD for sure, so that one descriptor load does."""
    match left, right:
        case tree.LocalRef(), tree.LocalRef():
            return left.local is right.local
        case tree.GlobalRef(), tree.GlobalRef():
            return left.variable is right.variable
        case tree.Constant(), tree.Constant():
            return left.value.data == right.value.data
        case _:
            return False


def load_dsr(code: Frame, expr: tree.LoadDsr, into: int | None) -> int:
    """@load_to_dsr."""
    target = code.goal(into)
    saved = code.top
    how = expr.behaviour
    config = DsrConfig(
        how.asynchronous,
        how.completion,
        code.unit.task_id(how.completion_id, how.completion_task),
        how.on_control,
        code.unit.task_id(how.on_control_id, how.on_control_task),
        how.microthread,
        how.save_address,
        how.single_step,
    )
    number = _DSR_CLASS.get(expr.dsr.kind)
    if number is None:
        raise error(expr.span, "dsr-class", f"a {expr.dsr.kind} isn't loaded by @load_to_dsr")
    which = number * 16 + expr.dsr.number
    packed = descriptor(code, expr.dsd)
    code.emit(Op.DSR_LOAD, Scalar.DSD, packed, 0, which * 256 + code.unit.config(config))
    code.top = saved
    return target


# --- @map ----------------------------------------------------------------------------------------


def map_op(code: Frame, expr: tree.Map, into: int | None) -> int:
    """Read an element of every cursor, run the function's body, write its value; until one ends."""
    target = code.goal(into)
    saved, cursors = code.top, code.cursors
    code.maps = True
    scalars = [_map_input(code, source) for source in expr.inputs]
    output, spot = _map_output(code, expr.output, expr.span)
    again, end = Label(), Label()
    code.mark(again)
    arguments = []
    for local, (cursor, register) in zip(expr.function.parameters, scalars, strict=True):
        if cursor >= 0:
            register = code.fresh()
            kind = code.scalar(local.type, expr.span)
            code.emit(Op.CURSOR_READ, kind, register, cursor).target = end
        arguments.append(register)
    result = code.fresh()
    inline(code, expr.function, arguments, result)
    code.at(expr.span)
    if output >= 0:
        kind = code.scalar(expr.function.result, expr.span)
        code.emit(Op.CURSOR_WRITE, kind, result, output).target = end
    elif spot is not None and not is_void(expr.function.result):
        code.store_register(code.scalar(expr.function.result, expr.span), spot, result)
    code.jump(Op.JUMP, again)
    code.code[-1].stepping = True
    code.mark(end)
    code.top, code.cursors = saved, cursors
    return target


def _map_input(code: Frame, source: tree.Expr) -> tuple[int, int]:
    """Number of a new cursor and -1, or -1 and the register of a value that stays."""
    if _walks(source):
        return _open(code, source), -1
    return -1, code.value(source, code.fresh())


def _map_output(code: Frame, output: tree.Expr | None, span: Span) -> tuple[int, Spot | None]:
    if output is None:
        return -1, None
    if output.type == types.FIFO:
        raise error(span, "map-fifo", "@map doesn't write to a FIFO")
    if _walks(output):
        return _open(code, output), None
    if isinstance(output.type, types.Pointer):
        return -1, Spot(base=code.value(output, code.fresh()))
    return -1, code.spot(output)


def _walks(expr: tree.Expr) -> bool:
    kind = expr.type
    return isinstance(kind, types.Simple) and (kind.name in DSD_TYPES or kind.name in DSR_TYPES)


def _open(code: Frame, expr: tree.Expr) -> int:
    cursor = code.cursors
    if cursor >= _CURSORS:
        raise error(expr.span, "map-operands", f"more than {_CURSORS} DSDs in nested @map")
    code.cursors += 1
    if isinstance(expr.type, types.Simple) and expr.type.name in DSR_TYPES:
        code.emit(Op.CURSOR, Scalar.DSD, cursor, -1, dsr_number(expr))
    else:
        code.emit(Op.CURSOR, Scalar.DSD, cursor, code.value(expr))
    return cursor
