"""Streams that an szx decoder must refuse, one reason at a time, golden and worked ones alike."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.streams import szp, szx
from kernels.streams.errors import StreamError
from kernels.streams.header import Stream
from tests.kernels.submissions import loaded
from tests.kernels.test_refusals import Parts

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("szx_*.npz"))
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SHAPE = (390,)

Format = np.dtype[np.generic]
Decoder = Callable[[Stream, tuple[int, ...], Format], Array]


def body(codes: bytes, drops: bytes, *, tail: bytes = bytes([0, 1, 2, 3, 4, 5, 0, 0])) -> bytes:
    """Payloads for codes 33, 254, 0 and 1: the last block has six values, in a padded plane."""
    masked = struct.pack("<5I", 15, 0, 0, 0, 0x100) + bytes(range(128))
    constant = struct.pack("<f", 2.5)
    return codes + drops + masked + constant + struct.pack("<I", 0x180) + tail


# As szx lays it out: codes, drops, then a masked block, a constant one and a short one.
LEGAL = Parts(
    magic=b"SZX1",
    dims=(390, 1, 1, 1),
    step=0.0,
    body=body(bytes([33, 254, 0, 1]), bytes([23, 0, 0, 23])),
)
UNFILLED = Parts(
    magic=b"SZX1",
    flags=1,
    dims=(2, 1, 1, 1),
    step=0.0,
    fill=0,
    body=struct.pack("<II2f", 255, 0, 1, 2),
)
DOUBLE = Parts(
    magic=b"SZX1",
    code=2,
    flags=1,
    dims=(8, 1, 1, 1),
    step=0.0,
    fill=0,
    body=struct.pack("<IIQ", 5, 52, 0xBFF) + bytes(40),
)


def changed(codes: list[int] | None = None, drops: list[int] | None = None) -> Parts:
    """The legal stream with other codes or drops."""
    return replace(
        LEGAL, body=body(bytes(codes or [33, 254, 0, 1]), bytes(drops or [23, 0, 0, 23]))
    )


def unfilled(code: int, payload: bytes) -> Parts:
    return replace(UNFILLED, body=struct.pack("<II", code, 0) + payload)


SPOILED = {
    "magic of szp": (replace(LEGAL, magic=b"SZP1"), "magic"),
    "crc": (replace(LEGAL, crc=1), "CRC"),
    "dtype of the other size": (replace(LEGAL, code=2), "dtype code 2"),
    "dtype unknown": (replace(LEGAL, code=3), "dtype code 3"),
    "ndim less": (replace(LEGAL, ndim=0), "0 dimensions"),
    "ndim impossible": (replace(LEGAL, ndim=5), "5 dimensions"),
    "flag unknown": (replace(LEGAL, flags=7), "unknown bits"),
    "reserved byte": (replace(LEGAL, reserved=b"\0\0\1\0\0"), "unknown bits"),
    "dims": (replace(LEGAL, dims=(391, 1, 1, 1)), "391, 1, 1, 1"),
    "unused dim zero": (replace(LEGAL, dims=(390, 0, 1, 1)), "390, 0, 1, 1"),
    "step": (replace(LEGAL, step=0.5), "step 0.5"),
    "step minus zero": (replace(LEGAL, step=-0.0), "not negative"),
    "step not a number": (replace(LEGAL, step=float("nan")), "finite"),
    "fill wider than float32": (replace(LEGAL, fill=1 << 32), "wider"),
    "fill pattern without flag": (replace(UNFILLED, fill=1), "without the fill flag"),
    "check": (replace(LEGAL, check=5), "check"),
    "check without its flag": (replace(LEGAL, flags=2, check=5), "check"),
    "whole fill without fill": (unfilled(254, b""), "header has none"),
    "masked constant without fill": (unfilled(32, bytes(20)), "header has none"),
    "masked planes without fill": (unfilled(33, bytes(24)), "header has none"),
    "code with as many planes as bytes": (unfilled(4, bytes(20)), "code 4"),
    "code just below the masked ones": (unfilled(31, bytes(128)), "code 31"),
    "code with a mask and too many planes": (changed([36, 254, 0, 1]), "code 36"),
    "code just above the masked ones": (changed([64, 254, 0, 1]), "code 64"),
    "code just below whole fill": (changed([33, 253, 0, 1]), "code 253"),
    "drop of more than the mantissa": (changed(drops=[24, 0, 0, 23]), "drop 24"),
    "drop that would wrap": (changed(drops=[255, 0, 0, 23]), "drop 255"),
    "drop of a constant": (changed(drops=[23, 0, 1, 23]), "drop 1"),
    "drop of a whole fill": (changed(drops=[23, 1, 0, 23]), "drop 1"),
    "drop of a raw block": (replace(UNFILLED, body=struct.pack("<II2f", 255, 1, 1, 2)), "drop 1"),
    "drop of a masked constant": (
        replace(LEGAL, dims=(2, 1, 1, 1), body=struct.pack("<II5I", 32, 1, 1, 0, 0, 0, 7)),
        "drop 1",
    ),
    "pad of the codes": (replace(UNFILLED, body=b"\xff\0\0\1" + bytes(12)), "pad"),
    "pad of the drops": (replace(UNFILLED, body=b"\xff\0\0\0\0\1\0\0" + bytes(8)), "pad"),
    "pad of a plane": (
        replace(LEGAL, body=LEGAL.body[:-1] + b"\1"),
        "pad",
    ),
    "body short of a word": (replace(LEGAL, body=LEGAL.body[:-4]), "need"),
    "body longer by a word": (replace(LEGAL, body=LEGAL.body + bytes(4)), "need"),
    "body short of a byte": (replace(LEGAL, body=LEGAL.body[:-1]), "4-byte words"),
    "body longer by a byte": (replace(LEGAL, body=LEGAL.body + b"\0"), "4-byte words"),
    "body without drops": (replace(LEGAL, body=LEGAL.body[:4]), "too few"),
    "body empty": (replace(LEGAL, body=b""), "too few"),
    "plane more than stored": (changed([34, 254, 0, 1]), "need"),
    "plane less than stored": (changed([32, 254, 0, 1], [0, 0, 0, 23]), "need"),
    "mask less than stored": (changed([1, 254, 0, 1]), "need"),
}


@pytest.fixture(scope="module", params=["golden", "naive", "tuned"])
def decode(request: pytest.FixtureRequest) -> Iterator[Decoder]:
    """Every decoder there is."""
    if request.param == "golden":
        yield szx.decode
        return
    with loaded("szx", request.param) as kernel:
        yield kernel.decompress


@dataclass(frozen=True)
class Refusal:
    """A decoder that must refuse; only the golden one is asked for certain words."""

    decode: Decoder

    def expect(self, stream: Stream, shape: tuple[int, ...], dtype: Format, message: str) -> None:
        if self.decode is szx.decode:
            with pytest.raises(StreamError, match=message):
                self.decode(stream, shape, dtype)
            return
        with pytest.raises(ValueError, match=r"."):
            self.decode(stream, shape, dtype)


@pytest.fixture
def refusal(decode: Decoder) -> Refusal:
    return Refusal(decode)


def test_the_streams_that_the_others_spoil_are_legal(decode: Decoder) -> None:
    decoded = decode(LEGAL.build(), SHAPE, F32)

    assert np.isnan(decoded[:4]).all()
    assert decoded[4:128].tolist() == [2.0 ** (i - 127) for i in range(4, 128)]
    assert np.isnan(decoded[128:256]).all()
    assert (decoded[256:384] == 2.5).all()
    assert decoded[384:].tolist() == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert decode(UNFILLED.build(), (2,), F32).tolist() == [1, 2]
    assert decode(DOUBLE.build(), (8,), F64).tolist() == [1.0] * 8


@pytest.mark.parametrize(("parts", "message"), SPOILED.values(), ids=SPOILED.keys())
def test_a_stream_with_one_thing_wrong_is_refused(
    refusal: Refusal, parts: Parts, message: str
) -> None:
    shape = SHAPE if parts.dims[0] > 300 else (2,)

    refusal.expect(parts.build(), shape, F32, message)


@pytest.mark.parametrize(
    ("code", "drop", "message"),
    [(5, 53, "drop 53"), (8, 0, "code 8"), (31, 0, "code 31"), (4, 52, "need"), (0, 1, "drop 1")],
)
def test_a_float64_stream_with_one_thing_wrong_is_refused(
    refusal: Refusal, code: int, drop: int, message: str
) -> None:
    parts = replace(DOUBLE, body=bytes([code, 0, 0, 0, drop, 0, 0, 0]) + DOUBLE.body[8:])

    refusal.expect(parts.build(), (8,), F64, message)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((391,), F32), ((390, 1), F32), ((39, 10), F32), ((390,), F64), ((), F32)],
    ids=str,
)
def test_a_decoder_told_another_shape_or_dtype_refuses(
    refusal: Refusal, shape: tuple[int, ...], dtype: Format
) -> None:
    refusal.expect(LEGAL.build(), shape, dtype, "expected")


@pytest.mark.parametrize("kept", [0, 3, 4, 8, 68, 71])
def test_a_stream_cut_within_its_header_is_refused(refusal: Refusal, kept: int) -> None:
    refusal.expect(LEGAL.build()[:kept], SHAPE, F32, "72-byte header")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_any_single_flipped_bit_of_a_golden_stream_is_refused(path: Path) -> None:
    with np.load(path) as vector:
        data, stream = vector["data"], vector["stream"]
    bits = np.arange(8 * stream.size)
    if bits.size > 4000:
        rest = np.random.default_rng(stream.size).choice(bits[600:], 3000, replace=False)
        bits = np.concatenate([bits[:600], rest, bits[-400:]])

    for bit in bits:
        damaged = stream.copy()
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StreamError):
            szx.decode(damaged, data.shape, data.dtype)


def test_any_single_flipped_bit_is_refused_by_every_decoder(decode: Decoder) -> None:
    stream = LEGAL.build()

    for bit in range(8 * stream.size):
        damaged = stream.copy()
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"."):
            decode(damaged, SHAPE, F32)


@pytest.mark.parametrize("shape", [(70,), (70, 1), (0, 3)], ids=str)
def test_an_szp_stream_is_not_an_szx_stream(refusal: Refusal, shape: tuple[int, ...]) -> None:
    stream = szp.encode(np.zeros(shape, np.float32), 0.1)

    refusal.expect(stream, shape, F32, "magic")


def test_a_stream_without_check_is_read(decode: Decoder) -> None:
    unchecked = decode(replace(LEGAL, flags=2).build(), SHAPE, F32).tobytes()

    assert unchecked == decode(LEGAL.build(), SHAPE, F32).tobytes()


def test_a_stream_at_an_odd_address_is_read(decode: Decoder) -> None:
    moved = np.concatenate([np.zeros(1, np.uint8), LEGAL.build()])[1:]

    assert decode(moved, SHAPE, F32).tobytes() == decode(LEGAL.build(), SHAPE, F32).tobytes()


@given(junk=st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_junk_is_refused_without_any_other_error(junk: bytes) -> None:
    parts = replace(LEGAL, body=junk)

    try:
        decoded = szx.decode(parts.build(), SHAPE, F32)
    except StreamError:
        return
    assert decoded.shape == SHAPE


@given(seed=st.integers(0, 2**32 - 1), changes=st.integers(1, 5), front=st.booleans())
@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_damage_with_a_right_check_ends_as_the_golden_decoder_says(
    decode: Decoder, seed: int, changes: int, front: bool
) -> None:
    rng = np.random.default_rng(seed)
    damaged = bytearray(LEGAL.body)
    for at in rng.integers(0, 8 if front else len(damaged), changes):
        damaged[at] = rng.integers(0, 256)
    stream = replace(LEGAL, body=bytes(damaged)).build()

    try:
        expected = szx.decode(stream, SHAPE, F32)
    except StreamError:
        with pytest.raises(ValueError, match=r"."):
            decode(stream, SHAPE, F32)
    else:
        assert decode(stream, SHAPE, F32).tobytes() == expected.tobytes()
