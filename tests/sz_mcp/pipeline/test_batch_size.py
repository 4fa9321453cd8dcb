"""How many inputs a timed request has, so that an empty round trip is a small part of it."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import cast

import pytest

from kernels.fields import Catalogue
from kernels.records import Bound
from kernels.tasks import TASKS
from sz_mcp.pipeline.content import Content
from sz_mcp.pipeline.live import LiveKernel
from sz_mcp.pipeline.requests import Request, Watch
from sz_mcp.pipeline.rounds import MAX_BATCH, Bench, batch_size
from toolchains.base import Session
from toolchains.peaks import Peaks


@pytest.mark.parametrize(
    ("round_trip_s", "expected"),
    [(1e-9, 1), (3e-4, 3), (10.0, MAX_BATCH), (math.inf, MAX_BATCH)],
    ids=["none", "some", "much", "cut short by a cancellation"],
)
def test_a_request_has_as_many_inputs_as_a_round_trip_asks_for(
    round_trip_s: float, expected: int
) -> None:
    field = Catalogue().load("uk_theta")
    live = LiveKernel(cast(Session, None), null_round_trip_s={"run": round_trip_s})
    live.seconds["uk_theta", 0.1] = {"run": 1e-3}
    content = Content(field, 0.1)
    bench = Bench(
        task=TASKS["lorenzo-1d"],
        live=live,
        field=field,
        content=content,
        bound=Bound("rel", 1e-3, 0.1),
        request=Request("uk_theta"),
        watch=Watch(),
        peaks=cast(Peaks, None),
        alone=nullcontext,
    )

    assert batch_size(bench) == expected
    content.close()
