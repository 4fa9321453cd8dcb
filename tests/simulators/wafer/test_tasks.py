"""Tasks, live operations on queues and FIFOs, cursors and microthreads: rows of small PEs."""

from __future__ import annotations

import numpy as np
import pytest

from simulators.wafer.dsd import Completion, DsdKind, DsrConfig, FabricOption, Operand, Vector
from simulators.wafer.halts import HaltKind
from simulators.wafer.machine import Ended, Machine
from simulators.wafer.opcodes import Op, Scalar, SystemCall
from simulators.wafer.program import Fifo, FifoAction, Port, Queue, Route, TaskKind
from tests.simulators.wafer.assembling import (
    READY,
    Instruction,
    Pe,
    const,
    fabric,
    fifo,
    ins,
    machine,
    memory,
    system,
)

_RAMP, _EAST, _WEST = 1 << Port.RAMP, 1 << Port.EAST, 1 << Port.WEST
COLOR, QUEUE = 3, 2
_TO_EAST = {(0, COLOR): Route(_RAMP, _EAST), (1, COLOR): Route(_WEST, _RAMP)}
DSD, DSR = Operand.DSD, Operand.DSR
W = np.uint16


def _words(one: Machine, x: int, address: int, count: int) -> list[int]:
    return np.frombuffer(one.read(x, 0, address, 2 * count), W).tolist()  # type: ignore[no-any-return]


def _note(to: int, register: int = 0) -> tuple[Instruction, ...]:
    """Append a register to the list at `to`, whose first word is its length in bytes."""
    return (
        ins(Op.LOAD, 60, -1, to),
        ins(Op.ADD, 60, 60, 2, flags=1),
        ins(Op.STORE, 60, -1, to),
        ins(Op.STORE, register, 60, to),
    )


def _sender(words: list[int], options: int = 0, *, asynchronous: bool = False) -> Pe:
    pe = Pe("sender", queues=[Queue(True, QUEUE, COLOR)])
    at = pe.variable("data", np.array(words, np.uint32))
    out = fabric(DsdKind.FABRIC_OUT, QUEUE, COLOR, len(words), options)
    code = [const(0, out), const(1, memory(at, len(words), wide=True))]
    code.append(pe.operate(Vector.MOV32, (DSD, 0), (DSD, 1), asynchronous=asynchronous))
    pe.function("send", *code)
    return pe


def _pair(sender: Pe, receiver: Pe, *launched: str, arch: str = "wse3") -> Machine:
    one = machine(sender, receiver, arch=arch, routes=_TO_EAST)
    for name in launched or ("send",):
        one.launch(name)
    return one


def _receiver() -> Pe:
    return Pe("receiver", queues=[Queue(False, QUEUE, COLOR)])


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_words_arrive_in_order_and_the_synchronous_operation_waits_for_them(
    arch: str, count: int
) -> None:
    words = list(range(1000, 1000 + count))
    pe = _receiver()
    to = pe.variable("to", 4 * count)
    done = pe.variable("done", 2)
    code = [const(0, memory(to, count, wide=True))]
    code.append(const(1, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, count)))
    code += [pe.operate(Vector.MOV32, (DSD, 0), (DSD, 1)), const(2, 7), ins(Op.STORE, 2, -1, done)]
    pe.function("receive", *code)
    one = _pair(_sender(words), pe, "receive", arch=arch)
    assert one.run_quiet().ended is Ended.REST
    assert _words(one, 1, done, 1) == [0]
    one.launch("send")
    one.run_quiet()
    assert np.frombuffer(one.read(1, 0, to, 4 * count), np.uint32).tolist() == words
    assert _words(one, 1, done, 1) == [7]


def test_a_function_that_was_called_waits_for_the_fabric_too() -> None:
    pe = _receiver()
    to = pe.variable("to", 16)
    code = [const(40, memory(to, 1, wide=True))]
    code.append(const(41, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, 1)))
    code.append(pe.operate(Vector.MOV32, (DSD, 40), (DSD, 41)))
    inner = pe.function("inner", *code)
    after = (const(2, 7), ins(Op.STORE, 2, -1, to + 8))
    pe.function("outer", ins(Op.CALL, 64, 0, inner), *after)
    one = _pair(_sender([5]), pe, "outer")
    one.run_quiet()
    assert _words(one, 1, to + 8, 1) == [0]
    one.launch("send")
    one.run_quiet()
    assert (_words(one, 1, to, 1), _words(one, 1, to + 8, 1)) == ([5], [7])


def test_an_asynchronous_operation_ends_by_activating_its_task() -> None:
    pe = _receiver()
    to, log = pe.variable("to", 16), pe.variable("log", 32)
    code = [
        const(0, memory(to, 3, wide=True)),
        const(1, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, 3)),
    ]
    receive = pe.operate(
        Vector.MOV32, (DSD, 0), (DSD, 1),
        asynchronous=True, completion=Completion.ACTIVATE, completion_id=9,
    )  # fmt: skip
    pe.function("receive", *code, receive, const(2, 1), *_note(log, 2))
    pe.task(TaskKind.LOCAL, 9, ins(Op.LOAD, 0, -1, to + 8), *_note(log))
    one = _pair(_sender([5, 6, 7]), pe, "receive", "send")
    one.run_quiet()
    assert _words(one, 1, log, 3) == [4, 1, 7]


def test_the_end_of_an_operation_unblocks_a_task_that_waits_in_its_own_block() -> None:
    pe = _receiver()
    log, to = pe.variable("log", 32), pe.variable("to", 16)
    code = [
        const(0, memory(to, 1, wide=True)),
        const(1, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, 1)),
    ]
    receive = pe.operate(
        Vector.MOV32, (DSD, 0), (DSD, 1),
        asynchronous=True, completion=Completion.UNBLOCK, completion_id=9,
    )  # fmt: skip
    again = [ins(Op.ACTIVATE, 0, -1, 9), ins(Op.BLOCK, 0, -1, 9)]
    pe.task(TaskKind.LOCAL, 9, *again, *code, receive, const(2, 4), *_note(log, 2))
    pe.function("start", ins(Op.ACTIVATE, 0, -1, 9))
    one = _pair(_sender([1, 2, 3]), pe, "start", "send")
    one.run_quiet()
    assert _words(one, 1, log, 5) == [8, 4, 4, 4, 4]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_data_task_runs_once_per_word_and_gets_its_halves(arch: str) -> None:
    pe = _receiver()
    log = pe.variable("log", 64)
    number = COLOR if arch == "wse2" else QUEUE
    scalars = (int(Scalar.U16), int(Scalar.I16))
    code = (*_note(log), *_note(log, 1))
    pe.task(TaskKind.DATA, number, *code, bits=(16, 16), scalars=scalars)
    one = _pair(_sender([0x00020001, 0xFFFF0003]), pe, arch=arch)
    one.run_quiet()
    assert _words(one, 1, log, 5) == [8, 1, 2, 3, 0xFFFF]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_blocked_data_task_leaves_its_words_until_it_is_unblocked(arch: str) -> None:
    pe = _receiver()
    log = pe.variable("log", 64)
    number = COLOR if arch == "wse2" else QUEUE
    pe.task(TaskKind.DATA, number, *_note(log), bits=(32,), scalars=(int(Scalar.U32),))
    pe.blocked = (number,)
    pe.function("open", ins(Op.UNBLOCK, 0, -1, number))
    one = _pair(_sender([4, 5]), pe, arch=arch)
    one.run_quiet()
    assert _words(one, 1, log, 1) == [0]
    one.launch("open")
    one.run_quiet()
    assert _words(one, 1, log, 3) == [4, 4, 5]


def test_a_control_word_starts_the_task_that_it_names() -> None:
    pe = _receiver()
    log = pe.variable("log", 64)
    pe.task(TaskKind.CONTROL, 40, *_note(log), bits=(16,), scalars=(int(Scalar.U16),))
    one = _pair(_sender([40 << 16 | 77], FabricOption.CONTROL), pe)
    one.run_quiet()
    assert _words(one, 1, log, 2) == [2, 77]


def test_the_least_local_id_goes_first_and_activation_is_no_counter() -> None:
    pe = Pe()
    log = pe.variable("log", 64)
    for number in (20, 9, 12):
        pe.task(TaskKind.LOCAL, number, const(0, number), *_note(log))
    order = (20, 12, 9, 12)
    pe.function("f", *(ins(Op.ACTIVATE, 0, -1, number) for number in order))
    one = machine(pe)
    one.launch("f")
    one.run_quiet()
    assert _words(one, 0, log, 4) == [6, 9, 12, 20]


def test_a_task_that_is_active_and_blocked_waits() -> None:
    pe = Pe(blocked=(9,), active=(9,))
    log = pe.variable("log", 64)
    pe.task(TaskKind.LOCAL, 9, *_note(log))
    pe.function("open", ins(Op.UNBLOCK, 0, -1, 9))
    one = machine(pe)
    one.run_quiet()
    assert _words(one, 0, log, 1) == [0]
    (held,) = one.held()
    assert (held.x, held.y, held.id) == (0, 0, 9)
    one.launch("open")
    one.run_quiet()
    assert _words(one, 0, log, 1) == [2]


def test_activating_an_id_without_a_task_stops_the_program() -> None:
    pe = Pe()
    pe.function("f", ins(Op.NOP), ins(Op.ACTIVATE, 0, -1, 13))
    one = machine(pe)
    one.launch("f")
    halt = one.run_quiet().halt
    assert halt is not None
    assert halt.place is not None
    assert (halt.kind, halt.place.line) == (HaltKind.UNBOUND, 1)
    assert halt.text == "task id 13 is activated, but nothing is bound to it"


def _two_receivers(queues: tuple[int, int], ids: tuple[int, int] = (-1, -1)) -> Machine:
    pe = Pe(queues=[Queue(False, queue, COLOR + queue) for queue in set(queues)])
    to = pe.variable("to", 16)
    code: list[Instruction] = []
    for i, queue in enumerate(queues):
        code.append(const(2 * i, memory(to, 1, wide=True)))
        code.append(const(2 * i + 1, fabric(DsdKind.FABRIC_IN, queue, COLOR + queue, 1)))
        more = {"asynchronous": True, "microthread": ids[i]}
        code.append(pe.operate(Vector.MOV32, (DSD, 2 * i), (DSD, 2 * i + 1), **more))
    pe.function("f", *code)
    one = machine(pe)
    one.launch("f")
    return one


def test_two_operations_on_one_microthread_stop_the_program() -> None:
    halt = _two_receivers((2, 3), (5, 5)).run_quiet().halt
    assert halt is not None
    assert halt.kind is HaltKind.MICROTHREAD_BUSY
    assert halt.text == "microthread 5 still runs an operation when another starts on it"
    assert halt.place is not None
    assert halt.place.line == 5


def test_two_operations_on_one_queue_stop_the_program() -> None:
    halt = _two_receivers((2, 2), (4, 5)).run_quiet().halt
    assert halt is not None
    assert (halt.kind, halt.text) == (
        HaltKind.QUEUE_BUSY,
        "queue 2 is in use by another operation",
    )


def test_operations_run_on_the_microthreads_of_their_queues() -> None:
    one = _two_receivers((2, 3))
    assert one.run_quiet().halt is None
    assert [blocked.microthread for blocked in one.blocked()] == [2, 3]


def test_a_range_that_leaves_its_variable_stops_the_program() -> None:
    pe = Pe()
    to = pe.variable("to", 16)
    code = [const(0, memory(to, 9)), const(1, 5)]
    pe.function("f", *code, pe.operate(Vector.MOV16, (DSD, 0), (Operand.SCALAR, 1)))
    one = machine(pe)
    one.launch("f")
    halt = one.run_quiet().halt
    assert halt is not None
    assert halt.kind is HaltKind.DSD_RANGE
    assert halt.text == (
        "a DSD goes from byte 0 to byte 18, which is not inside one variable:"
        " to u16 is bytes 0 to 16"
    )


# --- FIFOs -------------------------------------------------------------------------------------


def _fifo(action: FifoAction = FifoAction.TEST_OR_SUSPEND, **more: int) -> tuple[Pe, int, int]:
    pe = Pe()
    room, source = pe.variable("room", 8), pe.variable("source", np.arange(1, 9, dtype=W))
    to = pe.variable("to", 32)
    pe.fifos.append(Fifo("fifo", room, 4, 2, empty_action=action, full_action=action, **more))
    return pe, source, to


def test_a_synchronous_operation_ends_early_at_a_full_or_empty_fifo_and_says_so() -> None:
    pe, source, to = _fifo()
    code = [const(0, fifo(0)), const(1, memory(source, 6)), const(2, memory(to, 3))]
    code += [pe.operate(Vector.MOV16, (DSD, 0), (DSD, 1)), ins(Op.STORE, 63, -1, to + 16)]
    code += [pe.operate(Vector.MOV16, (DSD, 2), (DSD, 0)), ins(Op.STORE, 63, -1, to + 18)]
    code += [pe.operate(Vector.MOV16, (DSD, 2), (DSD, 0)), ins(Op.STORE, 63, -1, to + 20)]
    pe.function("f", *code)
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    # Six words, room for four; then three of the four, then the last one alone.
    assert _words(one, 0, to, 3) == [4, 2, 3]
    assert _words(one, 0, to + 16, 3) == [0, 1, 0]


def test_asynchronous_operations_wait_for_each_other_at_a_fifo_and_activate_tasks() -> None:
    pe, source, to = _fifo(activate_push=9)
    log = pe.variable("log", 32)
    pe.task(TaskKind.LOCAL, 9, const(0, 1), *_note(log))
    code = [const(0, fifo(0)), const(1, memory(source, 8)), const(2, memory(to, 8))]
    push = pe.operate(Vector.MOV16, (DSD, 0), (DSD, 1), asynchronous=True, microthread=1)
    pop = pe.operate(Vector.MOV16, (DSD, 2), (DSD, 0), asynchronous=True, microthread=2)
    pe.function("f", *code, push, pop)
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert _words(one, 0, to, 8) == list(range(1, 9))
    assert _words(one, 0, log, 1)[0] >= 2


@pytest.mark.parametrize(("push", "state"), [(False, "empty"), (True, "full")])
def test_a_fifo_with_the_action_fault_stops_the_program(push: bool, state: str) -> None:
    pe, source, to = _fifo(FifoAction.FAULT)
    code = [const(0, fifo(0)), const(1, memory(source, 5)), const(2, memory(to, 1))]
    operands = ((DSD, 0), (DSD, 1)) if push else ((DSD, 2), (DSD, 0))
    pe.function("f", *code, pe.operate(Vector.MOV16, *operands))
    one = machine(pe)
    one.launch("f")
    halt = one.run_quiet().halt
    assert halt is not None
    assert (halt.kind, halt.text) == (
        HaltKind.FIFO_FAULT,
        f"a FIFO whose action is `fault` was {state}",
    )


def test_a_fifo_with_the_action_terminate_ends_an_operation_well() -> None:
    pe, source, to = _fifo(FifoAction.TERMINATE)
    code = [const(0, fifo(0)), const(1, memory(source, 6))]
    code += [pe.operate(Vector.MOV16, (DSD, 0), (DSD, 1)), ins(Op.STORE, 63, -1, to)]
    pe.function("f", *code)
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert _words(one, 0, to, 1) == [1]


# --- DSRs and cursors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("save", "want"), [(False, [3, 3, 3, 0, 0, 0]), (True, [3, 3, 3, 3, 3, 3])]
)
def test_a_dsr_moves_on_only_if_it_saves_its_address(save: bool, want: list[int]) -> None:
    pe = Pe()
    to = pe.variable("to", 12)
    pe.configs.append(DsrConfig(save_address=save))
    put = pe.operate(Vector.MOV16, (DSR, 4), (Operand.SCALAR, 1))
    load = ins(Op.DSR_LOAD, 0, 0, 4 << 8 | 1)
    pe.function("f", const(0, memory(to, 3)), load, const(1, 3), put, put)
    one = machine(pe)
    one.launch("f")
    assert one.run_quiet().text == ""
    assert _words(one, 0, to, 6) == want


def test_a_dsr_that_saves_its_address_does_so_with_the_fabric_too() -> None:
    pe = _receiver()
    to = pe.variable("to", 16)
    pe.configs.append(DsrConfig(save_address=True))
    code = [const(0, memory(to, 2, wide=True)), ins(Op.DSR_LOAD, 0, 0, 1 << 8 | 1)]
    code += [
        const(1, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, 2)),
        ins(Op.DSR_LOAD, 1, 0, 17 << 8 | 1),
    ]
    get = pe.operate(Vector.MOV32, (DSR, 1), (DSR, 17))
    pe.function("receive", *code, get, get)
    one = _pair(_sender([1, 2, 3, 4]), pe, "receive", "send")
    assert one.run_quiet().text == ""
    assert np.frombuffer(one.read(1, 0, to, 16), np.uint32).tolist() == [1, 2, 3, 4]


def test_cursors_take_from_the_fabric_what_comes_and_stop_at_the_shortest() -> None:
    pe = _receiver()
    to = pe.variable("to", 16)
    code = [
        const(0, fabric(DsdKind.FABRIC_IN, QUEUE, COLOR, 5)),
        const(1, memory(to, 3, wide=True)),
        ins(Op.CURSOR, 0, 0),
        ins(Op.CURSOR, 1, 1),
        ins(Op.CURSOR_READ, 2, 0, 8, Scalar.U32),
        ins(Op.ADD, 2, 2, 1, Scalar.U32, flags=1),
        ins(Op.CURSOR_WRITE, 2, 1, 8, Scalar.U32),
        ins(Op.JUMP, 0, 0, 4),
        const(3, 99),
        ins(Op.STORE, 3, -1, to + 12),
    ]
    pe.function("receive", *code)
    one = _pair(_sender([10, 20, 30, 40, 50]), pe, "receive", "send")
    one.run_quiet()
    assert np.frombuffer(one.read(1, 0, to, 16), np.uint32).tolist() == [11, 21, 31, 99]


def test_cursors_put_words_into_the_fabric() -> None:
    sender = Pe("sender", queues=[Queue(True, QUEUE, COLOR)])
    code = [
        const(0, fabric(DsdKind.FABRIC_OUT, QUEUE, COLOR, 20)),
        ins(Op.CURSOR, 0, 0),
        ins(Op.CURSOR_WRITE, 2, 0, 5, Scalar.U32),
        ins(Op.ADD, 2, 2, 3, Scalar.U32, flags=1),
        ins(Op.JUMP, 0, 0, 2),
    ]
    sender.function(
        "send", const(2, 0), *[(h, a, b, c + 1 if h & 255 in (8, 45) else c) for h, a, b, c in code]
    )
    pe = _receiver()
    log = pe.variable("log", 64)
    pe.task(TaskKind.DATA, QUEUE, *_note(log), bits=(32,), scalars=(int(Scalar.U32),))
    one = _pair(sender, pe)
    one.run_quiet()
    assert _words(one, 1, log, 21) == [40, *range(0, 60, 3)]


# --- time and the host -------------------------------------------------------------------------


def test_timestamps_count_cycles() -> None:
    pe = Pe()
    to = pe.variable("to", 16)
    stamps = (
        system(SystemCall.TIMESTAMP, 0, Scalar.U64),
        system(SystemCall.TIMESTAMP, 1, Scalar.U64),
    )
    wait = ins(Op.NOP, cost=40)
    store = [ins(Op.STORE, i, -1, to + 8 * i, Scalar.U64) for i in range(2)]
    pe.function("f", stamps[0], wait, stamps[1], *store)
    one = machine(pe)
    one.launch("f")
    one.run_quiet()
    first, second = np.frombuffer(one.read(0, 0, to, 16), np.uint64).tolist()
    assert second - first == 41


def test_the_host_goes_on_when_every_pe_is_ready() -> None:
    slow = Pe("slow")
    slow.function("f", ins(Op.NOP, cost=200), READY)
    fast = Pe("fast")
    fast.function("f", READY)
    one = machine(slow, fast)
    one.launch("f")
    outcome = one.run_ready()
    assert outcome.ended is Ended.DONE
    assert outcome.cycle >= 200


def test_a_pe_that_never_gets_ready_is_told_of() -> None:
    pe = Pe()
    pe.function("f", ins(Op.NOP))
    one = machine(pe)
    one.launch("f")
    outcome = one.run_ready()
    assert outcome.ended is Ended.REST
    assert one.silent() == [(0, 0)]
    assert outcome.text


def test_the_cycle_limit_is_a_halt() -> None:
    pe = Pe()
    pe.function("f", ins(Op.NOP, cost=255), ins(Op.NOP, cost=255), READY)
    one = machine(pe)
    one.launch("f")
    halt = one.run_ready(limit=100).halt
    assert halt is not None
    assert (halt.kind, halt.text) == (HaltKind.CYCLE_LIMIT, "the limit of 100 cycles was reached")
