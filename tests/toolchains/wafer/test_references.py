"""The worked submissions of the wafer give golden answers and streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels import baselines
from kernels.records import Array, Failure, Status
from kernels.suite import core_suite
from kernels.tasks import TASKS
from kernels.tasks.base import CodecTask, StageTask
from kernels.verify import compare
from toolchains.base import Reply
from toolchains.wafer import WaferToolchain
from toolchains.wafer_session import WaferSession

from .submissions import loaded

ARCHS = ("wse2", "wse3")
STAGES = tuple(
    name
    for name, task in TASKS.items()
    if isinstance(task, StageTask) and baselines.styles(name, "wafer")
)
CODECS = tuple(
    (name, style)
    for name, task in TASKS.items()
    if isinstance(task, CodecTask)
    for style in baselines.styles(name, "wafer")
)
QUICK = {
    ("compact", "wse3"),
    ("lorenzo-3d-inverse", "wse2"),
    ("bitpack", "wse2"),
    ("huffman-encode", "wse3"),
    ("huffman-decode", "wse2"),
}
TOO_LARGE = {
    "huffman-encode": ("65536_symbols", "last_symbol"),
    "huffman-decode": ("65536_symbols", "last_symbol"),
}
"""Cases that the memory of a PE has no room for."""
QUICK_CODECS = {("szp", "tuned", "wse2"), ("szx", "naive", "wse3")}
SUITE = ("smooth_3d", "land_scattered", "all_kinds", "wild_range", "size_33", "nan_payloads")
_CAPACITY = 1 << 22


@pytest.mark.parametrize(
    ("task", "arch"),
    [
        pytest.param(t, a, marks=() if (t, a) in QUICK else pytest.mark.slow)
        for t in STAGES
        for a in ARCHS
    ],
)
def test_a_stage_gives_the_golden_answer(wafer: WaferToolchain, task: str, arch: str) -> None:
    stage = TASKS[task]
    assert isinstance(stage, StageTask)
    cases = [case for case in stage.edge_cases() if case.name not in TOO_LARGE.get(task, ())]
    quick = (task, arch) in QUICK
    submission = replace(baselines.read(task, "naive", "wafer"), target=f"wafer:{arch}")

    with loaded(wafer, submission) as session:
        for case in cases[:: max(1, len(cases) // 3)] if quick else cases:
            reply = session.call("run", [case.inputs], capacity=[_CAPACITY], deadline_s=60.0)
            assert isinstance(reply, Reply), (case.name, reply)
            golden = stage.golden(*case.inputs)
            for ruling in stage.rulings(case.inputs, golden, reply.outputs[0]):
                assert ruling.problem == "", case.name
                found = compare(ruling.wanted, ruling.got, ruling.abs_bound)
                assert found.holds, (case.name, ruling.name)


@pytest.mark.parametrize("task", TOO_LARGE)
def test_a_case_that_does_not_fit_is_refused_by_name(wafer: WaferToolchain, task: str) -> None:
    stage = TASKS[task]
    assert isinstance(stage, StageTask)
    cases = [case for case in stage.edge_cases() if case.name in TOO_LARGE[task]]
    submission = replace(baselines.read(task, "naive", "wafer"), target="wafer:wse3")

    with loaded(wafer, submission) as session:
        for case in cases:
            failed = session.call("run", [case.inputs], capacity=[_CAPACITY], deadline_s=60.0)
            assert isinstance(failed, Failure), case.name
            assert failed.status is Status.REFUSED, case.name
            assert "room for 4096 symbols, not 65536" in failed.message, case.name


@pytest.mark.parametrize(
    ("task", "style", "arch"),
    [
        pytest.param(t, s, a, marks=() if (t, s, a) in QUICK_CODECS else pytest.mark.slow)
        for t, s in CODECS
        for a in ARCHS
    ],
)
def test_a_codec_writes_and_reads_streams_of_the_golden_one(
    wafer: WaferToolchain, task: str, style: str, arch: str
) -> None:
    codec = TASKS[task]
    assert isinstance(codec, CodecTask)
    assert codec.stream_format is not None
    submission = replace(baselines.read(task, style, "wafer"), target=f"wafer:{arch}")

    with loaded(wafer, submission) as session:
        for case in (one for one in core_suite() if one.name in SUITE):
            bound = 1e-3 * _range(case.data)
            stream = _called(session, "compress", case.data.copy(), bound)
            golden = codec.stream_format.encode(case.data, bound)
            there = codec.stream_format.decode(stream, case.data.shape, case.data.dtype)
            back = _called(session, "decompress", golden, case.data.shape, case.data.dtype)

            assert _within(case.data, there, bound), case.name
            assert stream.size <= 1.02 * golden.size + 64, case.name
            wanted = codec.stream_format.decode(golden, case.data.shape, case.data.dtype)
            assert back.tobytes() == wanted.tobytes(), case.name


@pytest.mark.slow
@pytest.mark.parametrize(("task", "style"), CODECS)
def test_a_codec_refuses_float64_by_name(wafer: WaferToolchain, task: str, style: str) -> None:
    submission = replace(baselines.read(task, style, "wafer"), target="wafer:wse3")

    with loaded(wafer, submission) as session:
        failed = session.call(
            "compress", [(np.ones(40), 0.1)], capacity=[_CAPACITY], deadline_s=60.0
        )

    assert isinstance(failed, Failure)
    assert failed.status is Status.REFUSED
    assert "no float64" in failed.message


def _called(session: WaferSession, function: str, *arguments: object) -> Array:
    reply = session.call(
        function,
        [arguments],  # type: ignore[list-item]
        capacity=[_CAPACITY],
        deadline_s=60.0,
    )
    assert isinstance(reply, Reply), reply
    return reply.outputs[0][0].copy()


def _range(data: Array) -> float:
    finite = data[np.isfinite(data) & (np.abs(data) < 1e19)].astype(np.float64)
    return float(finite.max() - finite.min()) if finite.size else 1.0


def _within(data: Array, back: Array, bound: float) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(data.astype(np.float64) - back.astype(np.float64))
    same = (data == back) | (np.isnan(data) & np.isnan(back))
    return bool(np.all(same | (off <= bound)))
