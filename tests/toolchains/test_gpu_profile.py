"""A profile without a GPU: what counting children tell, through real children to metrics."""

import json

import numpy as np
import pytest

from kernels.records import Metric, Submission
from toolchains.backends import Parts
from toolchains.base import Call, Cancellation, Explanation
from toolchains.child.wire import COUNTS_LINE
from toolchains.children.pool import Pool
from toolchains.cuda import backend
from toolchains.emulation import missing
from toolchains.gpu import GpuToolchain
from toolchains.gpu_counts import KernelCounts, parsed_counts
from toolchains.gpu_model import modelled
from toolchains.peaks import Peaks

_Q = np.arange(1 << 16, dtype=np.int32)
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
_COLUMNS = (4, 128, 128, 512, 16, 16, 0, 0, 0, 0)
_TOLD = {
    "kernel": "copy", "launches": 1, "blocks": 64, "sampled": 1, "threads": 128, "warp": 32,
    "shared_bytes": 0, "barriers": 0, "warp_barriers": 0, "lost": 0, "requested": 32768.0,
    "sectors": 32768.0, "distinct": 32768.0, "hottest": 0,
    "sites": [["k.cu", 3, "load", 4, False, *_COLUMNS]], "races": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def chain(pool: Pool) -> GpuToolchain:
    if missing():
        pytest.skip(missing())
    return backend(Parts(pool, Peaks(None), 4 << 30))


def _explained(chain: GpuToolchain, text: str) -> Explanation:
    submission = Submission("lorenzo-1d", "cuda:sm_90", {"kernel.py": text})
    calls = [Call("run", (_Q,), _Q.nbytes)]
    return chain.explain(submission, calls, 1, Cancellation())


def _values(metrics: tuple[Metric, ...]) -> dict[str, float]:
    return {m.name: m.value for m in metrics if m.provenance == "modelled"}


def test_a_clean_kernel_is_counted_in_a_child_and_bounded_by_documented_bandwidth(
    chain: GpuToolchain,
) -> None:
    explained = _explained(chain, _SUM.replace("BARRIER", "__syncthreads();"))
    told = _values(explained.metrics)
    assert told["launches[previous]"] == 1
    assert told["blocks[previous]"] == 256
    assert 4 <= told["sampled_blocks[previous]"] <= 5
    assert told["barriers_per_thread[previous]"] == 1
    assert told["bank_passes[previous]"] == 1
    assert told["coalescing[previous]"] > 0.95
    assert told["races[previous]"] == 0
    assert told["requested_bytes[previous]"] == pytest.approx(2 * _Q.nbytes, rel=0.01)
    assert told["least_time"] == pytest.approx(2 * _Q.nbytes / 3350 / 1e3, rel=0.5)
    assert "GB/s" in explained.bottleneck
    assert "race" not in {one.rule for one in explained.guidance}


def test_a_deleted_barrier_is_told_with_both_lines(chain: GpuToolchain) -> None:
    explained = _explained(chain, _SUM.replace("BARRIER", ""))
    first = 1 + _SUM[: _SUM.index("    kept[threadIdx")].count("\n")
    last = 1 + _SUM[: _SUM.index("        out[i]")].count("\n")
    assert any(
        f"kernel.py:{first}" in note and f"kernel.py:{last}" in note
        for note in explained.notes
        if note.startswith("race in previous")
    ), explained.notes
    assert explained.guidance[0].rule == "race"


def _line(told: object, number: object = 0) -> str:
    return f"{COUNTS_LINE}\t{number}\t{json.dumps(told)}\n"


def test_the_last_line_of_a_kernel_counts() -> None:
    (only,) = parsed_counts(_line(_TOLD | {"launches": 1}) + _line(_TOLD | {"launches": 2}))
    assert isinstance(only, KernelCounts)
    assert only.launches == 2
    assert only.sites[0].sectors == 16


@pytest.mark.parametrize(
    "forged",
    [
        _line([]),
        _line(_TOLD, "x"),
        _line(_TOLD, 10**6),
        _line(_TOLD | {"blocks": "many"}),
        _line(_TOLD | {"blocks": -1}),
        _line(_TOLD | {"sites": [["k.cu", 3]]}),
        _line(_TOLD | {"sites": 3}),
        _line(_TOLD | {"races": [[1] * 9]}),
        _line(_TOLD).replace("32768.0", "NaN"),
        _line(_TOLD)[:-20],
        f"{COUNTS_LINE}\t0\t" + "[" * 100_000 + "\n",
    ],
)
def test_a_forged_line_is_dropped(forged: str) -> None:
    assert parsed_counts(forged) == ()


def test_no_counts_say_so() -> None:
    assert modelled((), ()).notes == ("no kernel was counted",)


def test_metrics_of_a_copy_are_those_of_a_copy() -> None:
    told = _values(modelled(parsed_counts(_line(_TOLD)), ()).metrics)
    assert told["sectors_per_request[copy]"] == 4
    assert told["coalescing[copy]"] == 1
    assert told["active_lanes[copy]"] == 1
    assert "least_time" not in told


def test_a_wasteful_line_is_named_in_words_and_by_rule() -> None:
    wasteful = (4, 128, 128, 512, 128, 16, 0, 0, 0, 0)
    told = _TOLD | {"sites": [["k.cu", 3, "load", 4, False, *wasteful]]}
    model = modelled(parsed_counts(_line(told)), ())
    assert "k.cu:3, a load with 32 sectors per request" in model.bottleneck
    assert [one.rule for one in model.guidance] == ["uncoalesced"]
