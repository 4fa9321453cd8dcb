"""`explain` of a wafer submission: where its cycles go, by PE, task, operation and message."""

from __future__ import annotations

import numpy as np

from toolchains.base import Call, Cancellation
from toolchains.wafer import WaferToolchain
from toolchains.wafer_explain import explained

from .submissions import lorenzo

VALUES = np.random.default_rng(3).integers(-1000, 1000, 5000).astype(np.int32)


def test_a_profile_says_what_every_pe_did_and_where_the_cycles_went(wafer: WaferToolchain) -> None:
    call = Call("run", (VALUES,), VALUES.nbytes)
    found = wafer.explain(lorenzo(), [call], 1, Cancellation())
    values = {metric.name: metric.value for metric in found.metrics}

    split = sum(values[f"run_{cause}_cycles"] for cause in ("compute", "words", "room", "idle"))
    assert split == 5 * values["run_device_cycles"]
    assert [(len(one.rows), len(one.rows[0])) for one in found.maps] == [(1, 5)] * 5
    *causes, traffic = found.maps
    assert abs(sum(one.rows[0][0] for one in causes) - 1) < 1e-12
    # Its PEs have a piece each: copies of the host don't go through their routers here.
    assert values["run_busiest_link"] == 0
    assert traffic.rows[0] == (0.0,) * 5
    assert "the slowest is PE (" in found.bottleneck
    assert any("critical path" in note for note in found.notes)


def test_the_busiest_link_is_named_with_its_share_of_the_cycles() -> None:
    grids = {cause: [[0, 50], [0, 0]] for cause in ("compute", "words", "room", "idle")}
    counted = {
        "cycles": 200, "slowest": [1, 0], "tasks": [], "operations": [], "path": [],
        "truncated": False, "traffic": [[3, 0], [150, 20]], **grids,
    }  # fmt: skip
    found = explained("run", [counted])

    (metric,) = [one for one in found.metrics if one.name == "run_busiest_link"]
    assert (metric.value, metric.unit) == (150, "words")
    assert found.maps[-1].rows == ((0.015, 0.0), (0.75, 0.1))
    (note,) = found.notes
    assert "leaves the router of PE (0, 1) and moved 150 words, in 75% of the cycles" in note


def test_a_call_that_ran_no_program_has_no_profile() -> None:
    assert explained("run", []).bottleneck == ""
