"""Profiles of real kernels: what is measured, what is reported, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernels import baselines
from kernels.fields import Catalogue
from kernels.records import Kernel, Profile, Status, Submission
from sz_mcp.answers import View, profile_reply
from sz_mcp.asked import Asked
from sz_mcp.pictures import draw_profile
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.texts import text_of
from toolchains.peaks import SIZES

FIELD = "ocean_temperature"


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    pipeline = Pipeline(Catalogue(), warm_children=2, home=tmp_path_factory.mktemp("home"))
    yield pipeline
    pipeline.close()


@pytest.fixture(scope="module")
def codec(pipeline: Pipeline) -> Profile:
    kernel = Kernel("k", baselines.read("sz-open", "naive"))
    return pipeline.profile(kernel, Request(FIELD), Watch())


def values(profile: Profile) -> dict[str, float]:
    return {metric.name: metric.value for metric in profile.metrics}


def test_a_codec_is_measured_both_ways(codec: Profile) -> None:
    found = values(codec)
    nbytes = Catalogue().load(FIELD).data.nbytes

    assert (codec.status, codec.stage) == (Status.BOUND_OK, Status.TIMED)
    assert codec.failure is None
    for function in ("compress", "decompress"):
        assert found[f"{function}.seconds"] > 0
        assert nbytes < found[f"{function}.moved_bytes"] < 2 * nbytes
        assert found[f"{function}.threads"] == 1
        assert found[f"{function}.peak_memory"] * 1e6 > nbytes / 2
        assert found[f"{function}.context_switches"] >= 0
    assert found["compress.moved_bytes"] == found["decompress.moved_bytes"]
    assert found["phase.compress.quantise"] > 0


def test_requests_that_were_disturbed_are_counted(codec: Profile) -> None:
    found = values(codec)

    assert 0 <= found["disturbed_requests"] <= found["timed_requests"]
    assert found["longest_wait"] >= 0
    told = any("were disturbed" in note for note in codec.notes)
    assert told == (found["disturbed_requests"] > 0)


def test_loops_have_places_and_reasons(codec: Profile) -> None:
    (loop,) = codec.loops

    assert (loop.function, loop.file, loop.source) == (
        "quantise",
        "kernel.py",
        "for i in range(x.size):",
    )
    assert loop.width == 1
    assert loop.reason
    assert 0 < (loop.share or 0.0) < 1


def test_hardware_counters_are_there_or_the_reason_is(codec: Profile) -> None:
    has = "compress.instructions" in values(codec)

    assert has or any(
        note.startswith("no hardware counters here (instructions, cycles") for note in codec.notes
    )


def test_phases_are_parts_of_the_measured_time(codec: Profile) -> None:
    found = values(codec)

    for function in ("compress", "decompress"):
        parts = [v for name, v in found.items() if name.startswith(f"phase.{function}.")]
        assert sum(parts) == pytest.approx(found[f"{function}.seconds"])


ROUNDS = """\
import numba
import numpy as np

@numba.njit
def work(x, out, rounds):
    for i in range(x.size):
        v = x[i]
        for _ in range(rounds):
            v = v * np.float32(1.5) - v
        out[i] = v
    bad = 0
    while x[bad] != x[bad]:
        bad += 1
    return bad

def compress(data, abs_bound):
    out = np.empty(data.size, np.float32)
    work(data.reshape(-1), out, 30)
    return data.reshape(-1).view(np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""


def test_a_loop_has_its_own_share_not_that_of_its_function(pipeline: Pipeline) -> None:
    kernel = Kernel("k", Submission("sz-open", "numba", {"kernel.py": ROUNDS}))

    profile = pipeline.profile(kernel, Request(FIELD), Watch())
    again = pipeline.profile(kernel, Request(FIELD), Watch())

    shares = {loop.line: loop.share for loop in profile.loops}
    if set(shares.values()) == {None}:
        assert all("one of" in loop.among for loop in profile.loops)
        pytest.skip("the operating system does not tell where a process is")
    assert (shares[8] or 0.0) + (shares.get(6) or 0.0) > 0.5
    assert shares[12] == pytest.approx(0.0, abs=0.02)
    # The compiler was not asked again.
    assert again.loops == tuple(
        replace(loop, share=later.share)
        for loop, later in zip(profile.loops, again.loops, strict=True)
    )


def test_a_concise_reply_is_short_and_a_detailed_one_has_all(codec: Profile) -> None:
    asked = Asked("profile", "r_1", "k_1", FIELD, "rel", 1e-3)
    short, long = (profile_reply(asked, codec, (), View(detailed=d)) for d in (False, True))

    assert len(text_of(short)) < 3200
    assert len(short.metrics) < len(long.metrics) == len(codec.metrics)
    assert "compress: " in text_of(short)
    # Its one loop takes about as much of the time as is worth a line.
    assert "loop kernel.py:" in text_of(long)
    assert len(short.loops) <= 3
    assert text_of(short).startswith(f"profiled on {FIELD}: ")
    assert not any("(instructions" in note for note in short.notes)


def test_the_curve_behind_the_picture_is_this_machines(codec: Profile) -> None:
    # Empty where the machine did not come to rest.
    assert [peak.nbytes for peak in codec.peaks] in ([], list(SIZES))
    assert draw_profile(codec).startswith(b"\x89PNG")


def test_a_stage_counts_the_bytes_of_its_arrays(pipeline: Pipeline) -> None:
    kernel = Kernel("k", baselines.read("lorenzo-1d", "naive"))

    profile = pipeline.profile(kernel, Request(FIELD), Watch())

    # int32 in, int32 out, as many as the field has float32 values.
    assert values(profile)["run.moved_bytes"] == 2 * Catalogue().load(FIELD).data.nbytes
    assert profile.bottleneck.startswith("run takes ")


def test_a_kernel_that_fails_is_not_profiled(pipeline: Pipeline) -> None:
    source = "def compress(data, b):\n    return {}[1]\n"
    kernel = Kernel("k", Submission("sz-open", "numba", {"kernel.py": source}))

    profile = pipeline.profile(kernel, Request(FIELD), Watch())

    assert profile.failure is not None
    assert (profile.metrics, profile.loops) == ((), ())
