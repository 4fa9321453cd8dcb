"""Error metrics of a detailed call: asked of the pipeline, told, recorded, and else not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from mcp import Client

from kernels.fields import Catalogue
from kernels.records import Bound, FieldInfo, Kernel, Metric, RunResult, Submission, Verdict
from kernels.verify import compare
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.pipeline.passes import Pass
from sz_mcp.pipeline.quality import quality
from sz_mcp.server import create_server
from tests.sz_mcp.conftest import call, compiled
from tests.sz_mcp.fakes import FakePipeline, make_app

NAMES = {
    "counted_values",
    "max_error",
    "max_pw_rel_error",
    "rmse",
    "nrmse",
    "psnr",
    "ssim",
    "pearson_r",
    "error_autocorrelation",
    "entropy_input",
    "entropy_decompressed",
    "bit_rate",
    "compression_ratio",
    "errors[outside]",
}
PSNR = Metric("psnr", 61.5, "dB", "derived")
SHIFTING = """\
import numpy as np

def compress(data, abs_bound):
    noise = np.random.default_rng(0).uniform(-0.9, 0.9, data.shape) * abs_bound
    shifted = (data + noise).astype(data.dtype)
    kept = np.abs(shifted - data) <= 0.95 * abs_bound
    return np.frombuffer(np.where(kept, shifted, data).tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""


@dataclass
class Measuring(FakePipeline):
    """Metrics where they are asked for."""

    def verify(self, kernel: Kernel, request: Request, watch: Watch) -> Verdict:
        found = super().verify(kernel, request, watch)
        return replace(found, metrics=(PSNR,) if request.metrics else ())

    def run(self, kernel: Kernel, request: Request, watch: Watch) -> RunResult:
        found = super().run(kernel, request, watch)
        return replace(found, metrics=(PSNR,) if request.metrics else ())


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["verify_bounds", "run_compress"])
async def test_a_detailed_call_asks_for_metrics_and_tells_them(tmp_path: Path, tool: str) -> None:
    app = make_app(tmp_path, Measuring())
    try:
        async with Client(create_server(app)) as client:
            kernel = await compiled(client)
            known = {"kernel_id": kernel, "field": "na_temperature"}
            brief = await call(client, tool, **known)
            detailed = await call(client, tool, **known, response_format="detailed")
            rows = await call(
                client,
                "query_results",
                sql="SELECT run_id, name, value, unit, origin FROM metrics WHERE name = 'psnr'",
            )
    finally:
        app.close()

    told = {"name": "psnr", "value": 61.5, "unit": "dB", "provenance": "derived"}
    assert detailed.data["metrics"] == [told]
    assert "psnr: 61.5 dB" in detailed.text
    assert "metrics" not in brief.data
    assert "61.5" not in brief.text
    assert rows.data["rows"] == [[detailed.data["run_id"], "psnr", 61.5, "dB", "run"]]


def test_a_codec_is_measured_on_the_field_itself_if_asked() -> None:
    kernel = Kernel("k_shifting", Submission("sz-open", "numba", {"kernel.py": SHIFTING}))
    pipeline = Pipeline(Catalogue(), warm_children=1)
    try:
        plain = pipeline.verify(kernel, Request("na_temperature"), Watch())
        verdict = pipeline.verify(kernel, Request("na_temperature", metrics=True), Watch())
        run = pipeline.run(kernel, Request("na_temperature", repeats=1, metrics=True), Watch())
    finally:
        pipeline.close()

    assert plain.metrics == ()
    for metrics in (verdict.metrics, run.metrics):
        found = {metric.name: metric.value for metric in metrics}
        assert found.keys() >= NAMES
        assert found["compression_ratio"] == 1.0
        assert found["bit_rate"] == 32.0
        assert found["max_error"] == pytest.approx(0.9 * verdict.abs_bound, rel=1e-3)
        assert found["errors[outside]"] == 0


def done(mode: str, decoded: float) -> Pass:
    data = np.ones(100)
    back = np.full(100, decoded)
    comparison = compare(data, back, 0.5)
    stream = np.zeros(200, np.uint8)
    return Pass(stream, data, back, comparison, Bound(mode, 0.5, 0.5), data)


def info(*, hidden: bool) -> FieldInfo:
    return FieldInfo("field", (100,), "float64", "", "", "", hidden=hidden)


def test_of_a_hidden_field_no_metric_is_told() -> None:
    assert quality(info(hidden=True), done("abs", 1.25)) == ()
    assert quality(info(hidden=False), done("abs", 1.25)) != ()


def test_of_logarithms_that_break_their_bound_no_metric_is_told() -> None:
    assert quality(info(hidden=False), done("pw_rel", 3.0)) == ()
    named = {metric.name for metric in quality(info(hidden=False), done("pw_rel", 1.25))}
    assert "max_pw_rel_error" in named
    assert not any(name.startswith("errors[") for name in named)


def test_a_bound_that_is_broken_is_measured_all_the_same() -> None:
    found = {metric.name: metric.value for metric in quality(info(hidden=False), done("abs", 3.0))}

    assert (found["max_error"], found["errors[outside]"]) == (2.0, 100.0)
