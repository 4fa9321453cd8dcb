"""Streams that a decoder must refuse, one reason at a time; each starts from a legal stream."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.streams import header, szp
from kernels.streams.errors import StreamError

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True)
class Parts:
    """A stream taken apart; `build` puts right the sums that are not given."""

    magic: bytes = b"SZP1"
    code: int = 1
    ndim: int = 1
    flags: int = 3
    reserved: bytes = bytes(5)
    dims: tuple[int, int, int, int] = (70, 1, 1, 1)
    step: float = 0.5
    fill: int = 0x7FC00000
    body: bytes = b""
    crc: int | None = None
    check: int | None = None

    def build(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        whole = self.body[: len(self.body) // 4 * 4]
        check = self.check
        if check is None:
            words = np.frombuffer(whole, np.uint32).tolist()
            total = sum((2 * i + 1) * w for i, w in enumerate(words)) % 2**64
            check = total if self.flags & 1 else 0
        rest = struct.pack(
            "<BBB5s4QdQQ",
            self.code,
            self.ndim,
            self.flags,
            self.reserved,
            *self.dims,
            self.step,
            self.fill,
            check,
        )
        crc = zlib.crc32(rest) if self.crc is None else self.crc
        front = struct.pack("<4sI", self.magic, crc)
        return np.frombuffer(front + rest + self.body, np.uint8)


# Blocks of 70 values: r = 1 with a mask, whole fill, and a raw tail of 6 values.
BODY = struct.pack("<i4B3I6f", 11, 33, 254, 255, 0, 0xF, 0x10, 0x70, 1, 2, 3, 4, 5, 6)
LEGAL = Parts(body=BODY)
LOSSLESS = Parts(
    flags=1, dims=(2, 1, 1, 1), step=0.0, fill=0, body=struct.pack("<iI2f", 0, 255, 1, 2)
)


def codes(*values: int) -> bytes:
    """The legal body with other block codes, pad byte included."""
    return BODY[:4] + bytes(values) + BODY[8:]


def test_the_stream_that_the_others_spoil_is_legal() -> None:
    decoded = szp.decode(LEGAL.build(), (70,), F32)

    assert decoded[64:].tolist() == [1, 2, 3, 4, 5, 6]
    assert decoded[4:8].tolist() == [5.0, 5.5, 6.0, 6.0]
    assert np.isnan(decoded[32:64]).all()
    assert szp.decode(LOSSLESS.build(), (2,), F32).tolist() == [1, 2]


SPOILED = {
    "magic": (replace(LEGAL, magic=b"SZX1"), "magic"),
    "crc": (replace(LEGAL, crc=1), "CRC"),
    "dtype of the other size": (replace(LEGAL, code=2), "dtype code 2"),
    "dtype unknown": (replace(LEGAL, code=3), "dtype code 3"),
    "ndim less": (replace(LEGAL, ndim=0), "0 dimensions"),
    "ndim more": (replace(LEGAL, ndim=2), "2 dimensions"),
    "ndim impossible": (replace(LEGAL, ndim=5), "5 dimensions"),
    "flag unknown": (replace(LEGAL, flags=7), "unknown bits"),
    "flag high": (replace(LEGAL, flags=0x83), "unknown bits"),
    "reserved byte": (replace(LEGAL, reserved=b"\0\0\0\0\1"), "unknown bits"),
    "dims": (replace(LEGAL, dims=(71, 1, 1, 1)), "71, 1, 1, 1"),
    "unused dim zero": (replace(LEGAL, dims=(70, 0, 1, 1)), "70, 0, 1, 1"),
    "unused dim more": (replace(LEGAL, dims=(70, 1, 1, 2)), "70, 1, 1, 2"),
    "step negative": (replace(LEGAL, step=-0.5), "not negative"),
    "step minus zero": (replace(LEGAL, step=-0.0), "not negative"),
    "step infinite": (replace(LEGAL, step=float("inf")), "finite"),
    "step not a number": (replace(LEGAL, step=float("nan")), "finite"),
    "step no float32": (replace(LEGAL, step=0.1), "not a float32"),
    "step beyond float32": (replace(LEGAL, step=1e300), "not a float32"),
    "step below float32": (replace(LEGAL, step=1e-300), "not a float32"),
    "step zero with coded blocks": (replace(LEGAL, step=0.0), "lossless"),
    "fill wider than float32": (replace(LEGAL, fill=1 << 32), "wider"),
    "fill pattern without flag": (replace(LOSSLESS, fill=1), "without the fill flag"),
    "mask without fill": (
        replace(LEGAL, flags=1, fill=0, body=codes(33, 0, 255, 0)),
        "header has none",
    ),
    "mask without planes without fill": (
        replace(LEGAL, flags=1, fill=0, body=codes(32, 1, 255, 0)),
        "header has none",
    ),
    "whole fill without fill": (
        replace(LEGAL, flags=1, fill=0, body=codes(2, 254, 255, 0)),
        "header has none",
    ),
    "code just above the masked ones": (replace(LEGAL, body=codes(64, 254, 255, 0)), "code 64"),
    "code just below whole fill": (replace(LEGAL, body=codes(33, 253, 255, 0)), "code 253"),
    "pad byte": (replace(LEGAL, body=codes(33, 254, 255, 1)), "pad"),
    "check": (replace(LEGAL, check=5), "check"),
    "check without its flag": (replace(LEGAL, flags=2, check=5), "check"),
    "body short of a word": (replace(LEGAL, body=BODY[:-4]), "need"),
    "body longer by a word": (replace(LEGAL, body=BODY + bytes(4)), "need"),
    "body short of a byte": (replace(LEGAL, body=BODY[:-1]), "4-byte words"),
    "body longer by a byte": (replace(LEGAL, body=BODY + b"\0"), "4-byte words"),
    "body without codes": (replace(LEGAL, body=BODY[:4]), "too few"),
    "body empty": (replace(LEGAL, body=b""), "too few"),
    "rate more than stored": (replace(LEGAL, body=codes(34, 254, 255, 0)), "need"),
    "rate less than stored": (replace(LEGAL, body=codes(1, 254, 255, 0)), "need"),
    "raw tail longer than its elements": (
        replace(LEGAL, dims=(69, 1, 1, 1)),
        "69, 1, 1, 1",
    ),
}


@pytest.mark.parametrize(("parts", "message"), SPOILED.values(), ids=SPOILED.keys())
def test_a_stream_with_one_thing_wrong_is_refused(parts: Parts, message: str) -> None:
    shape = (2,) if parts.dims[0] == 2 else (70,)

    with pytest.raises(StreamError, match=message):
        szp.decode(parts.build(), shape, F32)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((71,), F32), ((70, 1), F32), ((35, 2), F32), ((70,), F64), ((), F32)],
    ids=str,
)
def test_a_decoder_told_another_shape_or_dtype_refuses(
    shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> None:
    with pytest.raises(StreamError, match="expected"):
        szp.decode(LEGAL.build(), shape, dtype)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((70,), np.dtype(np.int32)), ((70,), np.dtype(np.float16)), ((1, 1, 1, 1, 70), F32)],
    ids=str,
)
def test_a_decoder_asked_for_what_no_stream_holds_refuses(
    shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> None:
    with pytest.raises(StreamError, match="no stream holds"):
        szp.decode(LEGAL.build(), shape, dtype)


def test_a_stream_that_is_not_flat_bytes_is_refused() -> None:
    with pytest.raises(StreamError, match="1-D uint8"):
        szp.decode(LEGAL.build().reshape(2, -1), (70,), F32)
    with pytest.raises(StreamError, match="1-D uint8"):
        szp.decode(LEGAL.build().view(np.int8), (70,), F32)


@pytest.mark.parametrize("kept", range(0, 72, 4))
def test_a_stream_cut_within_its_header_is_refused(kept: int) -> None:
    with pytest.raises(StreamError, match="72-byte header"):
        szp.decode(LEGAL.build()[:kept], (70,), F32)


def test_a_float64_step_need_not_be_a_float32_value() -> None:
    parts = Parts(
        code=2, flags=1, dims=(1, 1, 1, 1), step=0.1, fill=0, body=struct.pack("<iI", 3, 0)
    )

    assert szp.decode(parts.build(), (1,), F64).tolist() == [3 * 0.1]


def test_a_stream_without_check_is_read() -> None:
    decoded = szp.decode(replace(LEGAL, flags=2).build(), (70,), F32)

    assert decoded.tobytes() == szp.decode(LEGAL.build(), (70,), F32).tobytes()


def test_a_stream_at_an_odd_address_is_read() -> None:
    moved = np.concatenate([np.zeros(1, np.uint8), LEGAL.build()])[1:]

    decoded = szp.decode(moved, (70,), F32)

    assert decoded.tobytes() == szp.decode(LEGAL.build(), (70,), F32).tobytes()


@given(bit=st.integers(4 * 8, (72 + len(BODY)) * 8 - 1))
@settings(max_examples=200, deadline=None)
def test_any_flipped_bit_after_the_magic_is_refused(bit: int) -> None:
    stream = LEGAL.build().copy()
    stream[bit // 8] ^= 1 << bit % 8

    with pytest.raises(StreamError):
        szp.decode(stream, (70,), F32)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_two_flipped_bits_of_a_body_are_refused(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    values = rng.standard_normal(300).cumsum().astype(np.float32)
    stream = szp.encode(values, 0.01)
    places = st.integers(72 * 8, stream.size * 8 - 1)
    for bit in data.draw(st.lists(places, min_size=2, max_size=2, unique=True)):
        stream[bit // 8] ^= 1 << bit % 8

    with pytest.raises(StreamError):
        szp.decode(stream, (300,), F32)


@given(junk=st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_junk_is_refused_without_any_other_error(junk: bytes) -> None:
    parts = replace(LEGAL, body=junk)

    try:
        decoded = szp.decode(parts.build(), (70,), F32)
    except StreamError:
        return
    assert decoded.shape == (70,)


def test_the_body_check_follows_its_formula_across_batches() -> None:
    words = np.random.default_rng(3).integers(0, 2**32, 600_001, np.uint32)
    weights = 2 * np.arange(words.size, dtype=np.uint64) + 1

    expected = int((weights * words).sum(dtype=np.uint64))

    assert header.body_check(words) == expected
    assert header.body_check(words[:0]) == 0
