"""CUDA submissions in isolated children, on the emulator: build, results, races, diagnostics."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from kernels import baselines
from kernels.records import Array, Build, Execution, Failure, FailureKind, Status, Submission
from toolchains.backends import Parts
from toolchains.base import Cancellation, Reply, Session
from toolchains.children.pool import Pool
from toolchains.cuda import backend
from toolchains.emulation import missing
from toolchains.gpu import GpuToolchain
from toolchains.peaks import Peaks

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
_TARGET = "cuda:sm_90"
_Q = np.random.default_rng(3).integers(-(2**31), 2**31, 5000).astype(np.int32)

_SUM = """
import cupy as cp
import numpy as np

kernel = cp.RawKernel(r'''
extern "C" __global__ void previous(const int *q, int *out, int n)
{
    __shared__ int kept[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x + 1] = i < n ? q[i] : 0;
    if (threadIdx.x == 0)
        kept[0] = i > 0 && i <= n ? q[i - 1] : 0;
    BARRIER
    if (i < n)
        out[i] = kept[threadIdx.x + 1] - kept[threadIdx.x];
}
''', "previous")

def run(q):
    out = cp.empty_like(q)
    kernel(((q.size + 255) // 256,), (256,), (q, out, np.int32(q.size)))
    return out
"""


@pytest.fixture(scope="module")
def chain(pool: Pool) -> GpuToolchain:
    return backend(Parts(pool, Peaks(None), 4 << 30))


def _submission(text: str, **more: str) -> Submission:
    return Submission("lorenzo-1d", _TARGET, {"kernel.py": text, **more})


def _reference(task: str, style: str) -> Submission:
    return replace(baselines.read(task, style, "cuda"), target=_TARGET)


@pytest.fixture
def loaded(chain: GpuToolchain) -> Iterator[Callable[[Submission], Session]]:
    opened: list[Session] = []

    def load(submission: Submission) -> Session:
        session = chain.load(submission, 1, Cancellation())
        assert not isinstance(session, Failure), session
        opened.append(session)
        return session

    yield load
    for session in opened:
        session.close()


def _run(session: Session, q: Array) -> Reply | Failure:
    return session.call("run", ((q,),), capacity=(q.nbytes + 4096,), deadline_s=20.0)


def _built(chain: GpuToolchain, submission: Submission) -> Build:
    return chain.build(submission, Cancellation())


def test_every_target_is_emulated_and_says_so(chain: GpuToolchain) -> None:
    infos = chain.targets()
    assert {"cuda:sm_80", "cuda:sm_90"} <= {info.target for info in infos}
    assert {info.execution for info in infos} == {Execution.EMULATED}


def test_a_build_tells_registers_and_keeps_the_ptx(chain: GpuToolchain) -> None:
    build = _built(chain, _reference("lorenzo-1d", "naive"))
    assert build.status is Status.COMPILED, build
    assert build.failure is None
    assert build.first_call is None
    pytest.importorskip("nvidia.cu13", reason="no NVRTC here")
    told = {m.name: m.value for m in build.metrics}
    assert 4 <= told["registers[differences]"] <= 32
    assert told["spills[differences]"] == 0
    assert b".target sm_90" in build.artifacts["lorenzo.ptx"]


def test_an_emulated_stage_gives_the_golden_answer(
    loaded: Callable[[Submission], Session],
) -> None:
    reply = _run(loaded(_reference("lorenzo-1d", "naive")), _Q)
    assert isinstance(reply, Reply), reply
    np.testing.assert_array_equal(reply.outputs[0][0], np.diff(_Q, prepend=np.int32(0)))


def test_a_missing_barrier_is_told_by_the_order_of_threads(
    loaded: Callable[[Submission], Session],
) -> None:
    with_barrier = _submission(_SUM.replace("BARRIER", "__syncthreads();"))
    reply = _run(loaded(with_barrier), _Q)
    assert isinstance(reply, Reply), reply
    np.testing.assert_array_equal(reply.outputs[0][0], np.diff(_Q, prepend=np.int32(0)))
    failure = _run(loaded(_submission(_SUM.replace("BARRIER", ""))), _Q)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.ORDER
    assert "__syncthreads" in failure.message


def test_an_error_in_device_code_stops_the_build_at_its_line(chain: GpuToolchain) -> None:
    build = _built(chain, _submission(_SUM.replace("BARRIER", "__synchthreads();")))
    assert build.status is Status.ERROR
    assert build.failure is not None
    assert build.failure.kind is FailureKind.COMPILE
    (first, *_) = build.failure.diagnostics
    assert "__synchthreads" in first.message
    assert first.file == "kernel.py"
    assert first.line == 1 + _SUM[: _SUM.index("BARRIER")].count("\n")


def test_a_numpy_result_is_no_result_of_this_target(
    loaded: Callable[[Submission], Session],
) -> None:
    failure = _run(loaded(_submission("def run(q):\n    return q.get()\n")), _Q)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CONTRACT
    assert "cupy.ndarray is needed" in failure.message


def test_an_endless_kernel_ends_at_the_deadline(loaded: Callable[[Submission], Session]) -> None:
    endless = _SUM.replace("BARRIER", "volatile int *w = out; while (w[0] != 7) { }")
    session = loaded(_submission(endless))
    failure = session.call("run", ((_Q,),), capacity=(1 << 20,), deadline_s=1.0)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.TIMEOUT


def test_an_access_far_outside_ends_the_child_and_not_the_server(
    loaded: Callable[[Submission], Session],
) -> None:
    wild = _SUM.replace("BARRIER", "out[1ull << 40] = 1;")
    failure = _run(loaded(_submission(wild)), _Q)
    assert isinstance(failure, Failure)
    assert failure.kind in (FailureKind.CRASH, FailureKind.MEMORY, FailureKind.EXCEPTION)


@pytest.mark.slow
def test_a_codec_keeps_its_bound_in_two_children(
    loaded: Callable[[Submission], Session],
) -> None:
    field = np.cumsum(np.random.default_rng(1).standard_normal(40_000)).astype(np.float32)
    session = loaded(_reference("szp", "tuned"))
    packed = session.call("compress", ((field, 0.01),), capacity=(1 << 20,), deadline_s=60.0)
    assert isinstance(packed, Reply), packed
    stream = packed.outputs[0][0].copy()
    assert stream.nbytes < field.nbytes / 2
    back = session.call(
        "decompress",
        ((stream, field.shape, field.dtype),),
        capacity=(1 << 20,),
        deadline_s=60.0,
    )
    assert isinstance(back, Reply), back
    assert np.abs(back.outputs[0][0].astype(float) - field).max() <= 0.01


def test_an_access_outside_an_array_is_told_with_its_line_when_it_is_built(
    chain: GpuToolchain,
) -> None:
    found = _reference("lorenzo-1d", "naive")
    text = found.files["lorenzo.cu"].replace("if (i < n)", "if (i < n + 5)")
    build = _built(chain, replace(found, files={**found.files, "lorenzo.cu": text}))
    assert build.status is Status.COMPILED
    assert build.first_call is not None
    first = build.first_call.diagnostics[0]
    assert (first.file, first.source) == ("lorenzo.cu", text.splitlines()[(first.line or 1) - 1])
    assert "q[i - 1]" in (first.source or "")
    assert "outside every array" in first.message


def test_what_the_real_compiler_refuses_is_not_emulated_either(
    chain: GpuToolchain, loaded: Callable[[Submission], Session]
) -> None:
    pytest.importorskip("nvidia.cu13", reason="no NVRTC here")
    found = _reference("lorenzo-1d", "naive")
    text = "#include <vector>\n" + found.files["lorenzo.cu"]
    refused = replace(found, files={**found.files, "lorenzo.cu": text})
    assert _built(chain, refused).status is Status.ERROR
    failure = _run(loaded(refused), _Q)
    assert isinstance(failure, Failure)
    assert "vector" in failure.message
    assert (failure.diagnostics[0].file, failure.diagnostics[0].line) == ("lorenzo.cu", 1)


def test_a_block_scan_of_cub_is_emulated_for_unsigned_values(
    loaded: Callable[[Submission], Session],
) -> None:
    code = """
#include <cub/block/block_scan.cuh>
extern "C" __global__ void scan(const unsigned *q, unsigned *out)
{
    typedef cub::BlockScan<unsigned, 128> Scan;
    __shared__ typename Scan::TempStorage storage;
    unsigned sum, value = q[threadIdx.x];
    Scan(storage).ExclusiveSum(value, sum);
    out[threadIdx.x] = sum;
}
"""
    text = (
        f"import cupy as cp\nkernel = cp.RawKernel(r'''{code}''', 'scan')\n"
        "def run(q):\n    out = cp.empty_like(q)\n    kernel((1,), (128,), (q, out))\n"
        "    return out\n"
    )
    q = np.arange(128, dtype=np.int32)
    reply = _run(loaded(_submission(text)), q)
    assert isinstance(reply, Reply), reply
    np.testing.assert_array_equal(reply.outputs[0][0], np.cumsum(q) - q)
