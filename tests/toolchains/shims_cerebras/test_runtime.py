"""SdkRuntime as host programs use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.simulators.wafer.fake_machine import IN, OUT, A, FakeMachine, Said, assertion
from toolchains.child.shims.cerebras._errors import MachineError, ProgramHalted, SdkRuntimeError
from toolchains.child.shims.cerebras._link import CONNECTION
from toolchains.child.shims.cerebras.sdk import client
from toolchains.child.shims.cerebras.sdk.debug.debug_util import debug_util
from toolchains.child.shims.cerebras.sdk.runtime.sdkruntimepybind import (
    MemcpyDataType,
    MemcpyOrder,
    SdkRuntime,
)

WORDS: dict[str, Any] = {
    "streaming": False,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "order": MemcpyOrder.ROW_MAJOR,
    "nonblock": False,
}
HALVES = {**WORDS, "data_type": MemcpyDataType.MEMCPY_16BIT}
COLUMNS = {**WORDS, "order": MemcpyOrder.COL_MAJOR}
STREAM = {**WORDS, "streaming": True}
LATER = {"nonblock": True}


def running(**settings: Any) -> SdkRuntime:
    runner = SdkRuntime("out", **settings)
    runner.load()
    runner.run()
    return runner


# --- copies --------------------------------------------------------------------------------------


def test_row_major_is_height_width_elements(device: FakeMachine) -> None:
    runner = running()
    values = np.arange(24, dtype=np.float32)
    runner.memcpy_h2d(runner.get_id("A"), values, 0, 0, 2, 3, 4, **WORDS)
    assert np.frombuffer(device.read(1, 0, A, 16), np.float32).tolist() == [4, 5, 6, 7]
    back = np.zeros((3, 2, 4), np.float32)
    runner.memcpy_d2h(back, runner.get_id("A"), 0, 0, 2, 3, 4, **WORDS)
    assert back.reshape(-1).tolist() == values.tolist()


def test_column_major_is_elements_width_height(device: FakeMachine) -> None:
    runner = running()
    cube = np.arange(24, dtype=np.int32).reshape(3, 2, 4)
    runner.memcpy_h2d(runner.get_id("A"), cube.T.ravel(), 0, 0, 2, 3, 4, **COLUMNS)
    assert np.frombuffer(device.read(1, 2, A, 16), np.int32).tolist() == cube[2, 1].tolist()
    back = np.zeros(24, np.int32)
    runner.memcpy_d2h(back, runner.get_id("A"), 0, 0, 2, 3, 4, **COLUMNS)
    assert (back.reshape((3, 2, 4), order="F") == cube).all()


def test_sixteen_bit_elements_take_the_lower_half_of_each_word(device: FakeMachine) -> None:
    runner = running()
    words = np.array([0xAAAA0001, 0xAAAA0002, 3, 4, 5, 0xFFFF], np.uint32)
    runner.memcpy_h2d(runner.get_id("n"), words, 0, 0, 2, 3, 1, **HALVES)
    assert device.read(1, 0, 20, 2) == b"\2\0"
    back = np.full(6, -1, np.int32)
    runner.memcpy_d2h(back, runner.get_id("n"), 0, 0, 2, 3, 1, **HALVES)
    assert back.tolist() == [1, 2, 3, 4, 5, 0xFFFF]


def test_one_column_or_row_goes_to_all(device: FakeMachine) -> None:
    runner = running()
    a = runner.get_id("A")
    runner.memcpy_h2d_rowbcast(a, np.arange(12, dtype=np.uint32), 0, 0, 2, 3, 4, **WORDS)
    assert device.read(1, 2, A, 4) == device.read(0, 2, A, 4) == b"\10\0\0\0"
    rows = np.arange(8, dtype=np.uint32).reshape(1, 2, 4)
    runner.memcpy_h2d_colbcast(a, rows.T.ravel(), 0, 0, 2, 3, 4, **COLUMNS)
    assert device.read(1, 2, A, 4) == device.read(1, 0, A, 4) == b"\4\0\0\0"


@pytest.mark.parametrize(
    ("array", "told"),
    [
        ([1, 2], "a NumPy array is needed, not list"),
        (np.zeros(24), "an array of 32-bit elements is needed, not float64"),
        (np.zeros(24, np.int16), "an array of 32-bit elements is needed, not int16"),
        (np.zeros(23, np.int32), "has 23 elements, but 3 x 2 PEs with 4 each take 24"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(device: FakeMachine, array: Any, told: str) -> None:
    runner = running()
    with pytest.raises(SdkRuntimeError, match=told):
        runner.memcpy_h2d(0, array, 0, 0, 2, 3, 4, **WORDS)
    with pytest.raises(SdkRuntimeError, match=told):
        runner.memcpy_d2h(array, 0, 0, 0, 2, 3, 4, **WORDS)


def test_a_destination_has_to_be_contiguous_and_writable(device: FakeMachine) -> None:
    runner = running()
    whole = np.zeros((24, 2), np.int32)
    with pytest.raises(SdkRuntimeError, match="writable and contiguous"):
        runner.memcpy_d2h(whole[:, 0], 0, 0, 0, 2, 3, 4, **WORDS)
    locked = np.zeros(24, np.int32)
    locked.flags.writeable = False
    with pytest.raises(SdkRuntimeError, match="writable and contiguous"):
        runner.memcpy_d2h(locked, 0, 0, 0, 2, 3, 4, **WORDS)


def test_keywords_of_a_copy_are_needed(device: FakeMachine) -> None:
    with pytest.raises(TypeError, match="order"):
        running().memcpy_h2d(  # type: ignore[call-arg]
            0, np.zeros(24, np.int32), 0, 0, 2, 3, 4, streaming=False,
            data_type=MemcpyDataType.MEMCPY_32BIT, nonblock=False,
        )  # fmt: skip


# --- streams and order ---------------------------------------------------------------------------


def test_streams_keep_all_32_bits(device: FakeMachine) -> None:
    runner = running()
    given = np.array([0x10002, 5, 7, 9], np.uint32)
    back = np.zeros(4, np.uint32)
    later = runner.memcpy_d2h(back, OUT, 0, 0, 2, 1, 2, **{**STREAM, **LATER})
    runner.memcpy_h2d(IN, given, 0, 0, 2, 1, 2, **{**STREAM, **HALVES, "streaming": True})
    assert not later.done
    runner.task_wait(later)
    assert back.tolist() == [0x10003, 6, 8, 10]
    assert runner.is_task_done(later)


def test_calls_that_do_not_block_are_done_by_stop(device: FakeMachine) -> None:
    runner = running()
    values, back = np.arange(24, dtype=np.uint32), np.zeros(24, np.uint32)
    runner.memcpy_h2d(0, values, 0, 0, 2, 3, 4, **{**WORDS, **LATER})
    runner.launch("add", np.int16(-2), nonblock=True)
    runner.memcpy_d2h(back, 0, 0, 0, 2, 3, 4, **{**WORDS, **LATER})
    assert not device.calls
    runner.stop()
    assert back.tolist() == values.tolist()
    assert device.calls == ["write"] * 6 + ["add(-2)"]
    runner.stop()


def test_launch_and_call_are_the_same(device: FakeMachine) -> None:
    runner = running()
    runner.launch("mix", np.uint32(1), np.float32(2), nonblock=False)
    runner.call("mix", [3, 4.0], nonblock=False)
    assert device.calls == ["mix(1, 1073741824)", "mix(3, 1082130432)"]
    with pytest.raises(SdkRuntimeError, match="is a NumPy scalar"):
        runner.launch("add", "1", nonblock=False)
    with pytest.raises(SdkRuntimeError, match=r"numpy\.int16 is needed, not numpy.float32"):
        runner.launch("add", np.float32(1), nonblock=False)


# --- life ----------------------------------------------------------------------------------------


def test_with_loads_runs_and_stops(device: FakeMachine) -> None:
    with client.SdkRuntime("out", simulator=True) as runner:
        runner.launch("add", np.int16(1), nonblock=True)
    assert device.calls == ["add(1)"]
    with pytest.raises(SdkRuntimeError, match="launch after stop"):
        runner.launch("add", np.int16(1), nonblock=True)


def test_calls_before_run_are_refused(device: FakeMachine) -> None:
    runner = SdkRuntime("out")
    with pytest.raises(SdkRuntimeError, match="run\\(\\) comes after load\\(\\)"):
        runner.run()
    with pytest.raises(SdkRuntimeError, match="launch comes after load\\(\\) and run\\(\\)"):
        runner.launch("add", np.int16(1), nonblock=False)


def test_unknown_symbols_are_told_with_what_there_is(device: FakeMachine) -> None:
    with pytest.raises(SdkRuntimeError, match=r'no "ad" .did you mean "add".*exports "A", "n"'):
        SdkRuntime("out").get_id("ad")


def test_a_cs_system_is_refused(device: FakeMachine) -> None:
    with pytest.raises(SdkRuntimeError, match="no CS system here"):
        SdkRuntime("out", cmaddr="10.0.0.1:9000")
    SdkRuntime("out", cmaddr=None, suppress_simfab_trace=True)


def test_a_halt_is_raised_with_its_details(device: FakeMachine) -> None:
    runner = running()
    device.fails = assertion("@assert failed")
    with pytest.raises(ProgramHalted, match=r"@assert failed \[PE \(1, 0\), task main") as caught:
        runner.memcpy_d2h(np.zeros(24, np.int32), 0, 0, 0, 2, 3, 4, **WORDS)
    assert caught.value.halt["kind"] == "assert"


def test_without_a_machine_it_says_how_to_get_one(device: FakeMachine) -> None:
    CONNECTION.link = None
    with pytest.raises(MachineError, match="cs-python"):
        SdkRuntime("out")


# --- what is left --------------------------------------------------------------------------------


def test_prints_are_shown_line_by_line_per_pe(
    device: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = running()
    device.log = [Said(1, 0, 0, 2, 5), Said(1, 1, 0, 2, 6), Said(2, 0, 0, 0, 0)]
    runner.launch("add", np.int16(1), nonblock=False)
    assert capsys.readouterr().out == "5begin\n"
    runner.stop()
    assert capsys.readouterr().out == "6\n"


def test_traces_and_variables_are_found_after_the_run(device: FakeMachine) -> None:
    runner = running()
    device.log = [Said(7, 1, 2, 3, 41, 1), Said(8, 1, 2, 1, 8, 1)]
    runner.memcpy_h2d(0, np.arange(24, dtype=np.uint32), 0, 0, 2, 3, 4, **WORDS)
    runner.stop()
    debug = debug_util("out", cmaddr=None)
    assert debug.read_trace(4 + 1, 1 + 2, "trace") == [41, 8]
    assert debug.get_symbol(4, 1, "A", np.uint32).tolist() == [0, 1, 2, 3]
    assert debug.get_symbol_rect(((4, 1), (2, 3)), "A", np.uint32).shape == (2, 3, 4)
    assert runner.read_symbol(1, 0, "A", dtype="uint16").tolist() == [4, 0, 5, 0, 6, 0, 7, 0]
    with pytest.raises(SdkRuntimeError, match="no SdkRuntime has run other"):
        debug_util("other")
