"""Messages survive the trip, and none that a child may send does more than raise WireError."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolchains.child import wire

SHAPES = st.lists(st.integers(0, 1000), max_size=4).map(tuple)
PLACED = st.builds(
    wire.Placed, st.sampled_from(wire.DTYPES), SHAPES, st.integers(0, 2**40).map(wire.align)
)
VALUES = st.one_of(
    PLACED,
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
    SHAPES,
    st.sampled_from(wire.DTYPES).map(np.dtype),
)


@given(st.lists(st.lists(VALUES, max_size=5), max_size=4))
def test_a_request_arrives_as_it_was_sent(items: list[list[wire.Value]]) -> None:
    sent = [wire.Item(tuple(values), 64 * i, 1000) for i, values in enumerate(items)]

    calls = wire.Calls("decompress", tuple(sent), profiled=True, held=True)

    assert wire.unpack_prepare(wire.pack_prepare(1, calls)) == calls


@given(st.lists(st.lists(PLACED, max_size=3), max_size=4), st.integers(0, 2**60))
def test_a_reply_arrives_as_it_was_sent(outputs: list[list[wire.Placed]], nanoseconds: int) -> None:
    phase = wire.PhaseTime("naïve", "kernel.py", 3, 1, 5, True)

    done = wire.unpack_done(wire.pack_done(1, nanoseconds, outputs, [phase]))

    assert done == wire.Done(nanoseconds, tuple(tuple(o) for o in outputs), (phase,))


@settings(max_examples=300)
@given(st.binary(max_size=400), st.integers(0, 65535))
def test_no_bytes_make_the_decoders_fail_otherwise_than_by_wire_error(
    body: bytes, count: int
) -> None:
    message = wire.HEAD.pack(1, wire.Kind.DONE, count) + body

    for decode in (wire.unpack_done, wire.unpack_fault):
        try:
            decode(message)
        except wire.WireError:
            continue


@pytest.mark.parametrize("cut", range(8, 150, 7))
def test_a_truncated_reply_is_refused(cut: int) -> None:
    message = wire.pack_done(1, 5, [[wire.Placed("uint8", (9,), 0)]], [])

    if cut < len(message):
        with pytest.raises(wire.WireError):
            wire.unpack_done(message[:cut])


def test_an_array_whose_size_and_shape_disagree_is_refused() -> None:
    raw = bytearray(wire.pack_value(wire.Placed("float64", (3,), 0)))
    raw[16] = 1

    with pytest.raises(wire.WireError, match="disagree"):
        wire.unpack_value(bytes(raw))


def test_a_fault_keeps_its_last_frames_and_clips_its_message() -> None:
    frames = tuple(wire.Frame("kernel.py", i, "f") for i in range(40))
    fault = wire.Fault(wire.FaultKind.EXCEPTION, 2, "E" * 500, "\ud800" + "m" * 100_000, frames)

    message = wire.pack_fault(9, fault)
    got = wire.unpack_fault(message)

    assert len(message) <= wire.MAX_MESSAGE
    assert got.frames == frames[-16:]
    assert got.type_name == "E" * 255
    assert got.message.startswith("\\ud800mmm")


def test_sources_arrive_as_they_were_sent() -> None:
    files = {"kernel.py": "x = '\ud800 ü'\n", "empty.py": ""}

    got = wire.unpack_sources(wire.pack_sources(files))

    assert {n: t.decode("utf-8", "surrogatepass") for n, t in got.items()} == files
