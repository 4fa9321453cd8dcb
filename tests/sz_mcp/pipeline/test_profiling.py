"""Profiles of real kernels: what is measured, what is reported, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator

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

    assert (codec.status, codec.failure) == (Status.ROUNDTRIPS, None)
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

    assert has or any(note.startswith("no instructions, cycles") for note in codec.notes)


def test_a_concise_reply_is_short_and_a_detailed_one_has_all(codec: Profile) -> None:
    asked = Asked("profile", "r_1", "k_1", FIELD, "rel", 1e-3)
    short, long = (profile_reply(asked, codec, (), View(detailed=d)) for d in (False, True))

    assert len(text_of(short)) < 3200
    assert len(short.metrics) < len(long.metrics) == len(codec.metrics)
    assert "compress: " in text_of(short)
    assert "loop kernel.py:" in text_of(short)
    assert len(short.loops) <= 3


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
