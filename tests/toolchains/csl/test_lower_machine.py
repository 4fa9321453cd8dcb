"""What code asks of the machine: tasks, queues, DSRs, FIFOs, calls of the system."""

from __future__ import annotations

from simulators.wafer.dsd import (
    Completion,
    DsdField,
    DsdKind,
    DsrConfig,
    Operand,
    Vector,
)
from simulators.wafer.opcodes import Flag, MathFunction, Op, Scalar, SystemCall
from tests.simulators.wafer.reference_core import dsd_fields, from_float
from toolchains.csl import tree as t
from toolchains.csl import types as ty
from toolchains.csl.values import Address, Dsd, Dsr, FifoValue

from .lower_trees import HERE, Lowered, const, function, give, i16, local, lower, ref, variable

_TASK = ty.LOCAL_TASK_ID
_MEMORY = ty.DSD_TYPES["mem1d_dsd"]


def _rows(made: Lowered, op: Op) -> list[list[int]]:
    return [row for row in made.code.code.tolist() if row[0] & 255 == op]


def test_tasks_are_named_by_known_and_by_live_ids() -> None:
    task = local("task", _TASK)

    def act(operation: str, what: t.Expr, microthread: bool = False) -> t.Effect:
        target = t.TaskTarget(what, microthread)
        return t.Effect(HERE, t.TaskOp(ty.VOID, HERE, operation, target))

    f = function(
        "f",
        (task,),
        ty.VOID,
        act("activate", const(_TASK, 9)),
        act("activate", ref(task)),
        act("block", const(ty.UT_ID, 3), microthread=True),
        act("unblock", const(ty.COLOR, 5)),
    )
    made = lower(f)
    core = made.core()
    core.run(0, 12)
    assert core.active == [9, 12]
    (block,) = _rows(made, Op.BLOCK)
    assert (block[0] >> 24, block[2], block[3]) == (Flag.MICROTHREAD, -1, 3)
    (unblock,) = _rows(made, Op.UNBLOCK)
    assert (unblock[0] >> 24, unblock[3]) == (0, 5)


def test_asynchronous_operations_on_the_fabric_carry_what_they_do_at_their_end() -> None:
    fabin = Dsd(DsdKind.FABRIC_IN, extents=(7,), queue=2, color=5, wide=True)
    array = variable("array", ty.Array((7,), ty.F32))
    memory = Dsd(DsdKind.MEMORY, Address(array), (7,), (1,), True)
    how = t.Behaviour(True, Completion.ACTIVATE, 9, index=i16(4), priority=1)
    operation = t.VectorOp(
        ty.VOID,
        HERE,
        Vector.FMOVS,
        const(_MEMORY, memory),
        (const(ty.DSD_TYPES["fabin_dsd"], fabin),),
        how,
    )
    made = lower(function("f", (), ty.VOID, t.Effect(HERE, operation)), variables=(array,))
    (template,) = made.code.operations
    assert template.asynchronous
    assert (template.completion, template.completion_id) == (Completion.ACTIVATE, 9)
    assert (template.priority, template.index_register >= 0) == (1, True)
    constants = [
        row[3] << 32 | row[2] & 0xFFFFFFFF
        for row in _rows(made, Op.CONST)
        if row[0] >> 8 & 255 == Scalar.DSD
    ]
    source = dsd_fields(constants[1])
    assert source[DsdField.KIND] == DsdKind.FABRIC_IN
    assert (source[DsdField.BASE], source[DsdField.EXTENT]) == (2 | 5 << 8, 7)
    assert made.places.places[made.code.operation_places[0]].line == 1


def test_dsrs_are_loaded_and_named_by_class_and_number() -> None:
    array = variable("array", ty.Array((4,), ty.F32))
    memory = const(_MEMORY, Dsd(DsdKind.MEMORY, Address(array), (4,), (1,), True))
    dest = Dsr("dsr_dest", 3)
    source = Dsr("dsr_src1", 5)
    load = t.LoadDsr(ty.VOID, HERE, dest, memory, t.Behaviour(save_address=True))
    again = t.LoadDsr(ty.VOID, HERE, source, memory, t.Behaviour())
    operation = t.VectorOp(
        ty.VOID,
        HERE,
        Vector.FMOVS,
        const(ty.DSR_TYPES["dsr_dest"], dest),
        (const(ty.DSR_TYPES["dsr_src1"], source),),
        t.Behaviour(),
    )
    steps = [t.Effect(HERE, one) for one in (load, again, operation)]
    made = lower(function("f", (), ty.VOID, *steps), variables=(array,))
    assert [row[3] for row in _rows(made, Op.DSR_LOAD)] == [3 * 256, (2 * 16 + 5) * 256 + 1]
    assert made.code.dsr_configs == (DsrConfig(save_address=True), DsrConfig())
    (template,) = made.code.operations
    assert template.dest == (Operand.DSR, 3)
    assert template.sources == ((Operand.DSR, 37),)


def test_a_fifo_is_a_descriptor_and_its_operation_has_a_result() -> None:
    array = variable("array", ty.Array((4,), ty.F32))
    memory = const(_MEMORY, Dsd(DsdKind.MEMORY, Address(array), (4,), (1,), True))
    fifo = const(ty.FIFO, FifoValue(1, ty.F32))
    push = t.VectorOp(ty.BOOL, HERE, Vector.FMOVS, fifo, (memory,), t.Behaviour())
    made = lower(function("f", (), ty.BOOL, give(push)), variables=(array,))
    first = _rows(made, Op.CONST)[0]
    fields = dsd_fields(first[3] << 32 | first[2] & 0xFFFFFFFF)
    assert (fields[DsdField.KIND], fields[DsdField.BASE]) == (DsdKind.FIFO, 1)
    assert made.code.operations[0].dest[0] is Operand.DSD
    (operate,) = _rows(made, Op.DSD_OPERATE)
    assert operate[1] == 0


def test_system_calls_take_arguments_in_a_row_and_give_their_result() -> None:
    x = local("x", ty.F32)
    kind = const(ty.U16, int(MathFunction.SQRT))
    root = t.System(ty.F32, HERE, SystemCall.MATH, (kind, ref(x)))
    tick = t.System(ty.VOID, HERE, SystemCall.UNBLOCK_COMMANDS, ())
    made = lower(function("f", (x,), ty.F32, t.Effect(HERE, tick), give(root)))
    core = made.core()
    assert core.run(0, from_float(9.0, Scalar.F32)) == from_float(3.0, Scalar.F32)
    assert [call for call, _ in core.calls] == [SystemCall.UNBLOCK_COMMANDS, SystemCall.MATH]


def test_frames_of_calls_in_each_other_fit_the_registers_that_are_kept() -> None:
    x = local("x", ty.I16)
    callee = function("f0", (x,), ty.I16, give(ref(x)))
    for n in range(1, 12):
        y = local("y", ty.I16)
        inner = t.Call(ty.I16, HERE, callee, (ref(y),))
        total = t.Binary(ty.I16, HERE, "+", ref(y), inner)
        callee = function(f"f{n}", (y,), ty.I16, give(total))
    made = lower(callee)
    assert made.call("f11", 2) == 24
    assert made.code.registers >= 12
