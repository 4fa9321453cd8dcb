"""The header help module of child processes: the bytes of the specification, and every refusal."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchains.child import szstream

SHAPE = (5,)
BODY = np.frombuffer(
    bytes.fromhex("00000000 03000000 10000000 16000000 08000000 10000000"), np.uint8
)
STEP = struct.unpack("<d", bytes.fromhex("00000020fcffef3f"))[0]


def stream_of(**changes: object) -> npt.NDArray[np.uint8]:
    """Example A of the specification with header fields overwritten, CRC made right again."""
    values: dict[str, object] = {
        "dtype": 1,
        "ndim": 1,
        "flags": 1,
        "reserved": bytes(5),
        "dims": (5, 1, 1, 1),
        "step": STEP,
        "fill": 0,
        "check": szstream.check_sum(BODY),
    }
    values |= changes
    dims = values.pop("dims")
    assert isinstance(dims, tuple)
    v = values
    rest = struct.pack(
        "<BBB5s4QdQQ",
        *(v[k] for k in ("dtype", "ndim", "flags", "reserved")),
        *dims,
        *(v[k] for k in ("step", "fill", "check")),
    )
    head = b"SZP1" + struct.pack("<I", zlib.crc32(rest)) + rest
    return np.concatenate([np.frombuffer(head, np.uint8), BODY])


def test_header_has_the_bytes_of_the_specification_example() -> None:
    head = szstream.header(b"SZP1", SHAPE, np.float32, step=STEP, fill_bits=None, body=BODY)

    assert head.tobytes().hex() == (
        "535a5031522f116d01010100000000000500000000000000"
        "01000000000000000100000000000000010000000000000000000020fcffef3f"
        "0000000000000000eb01000000000000"
    )


def test_header_takes_a_check_sum_in_place_of_the_body() -> None:
    check = szstream.check_sum(BODY)

    from_check = szstream.header(b"SZP1", SHAPE, np.float32, step=1.0, fill_bits=7, body=check)

    from_body = szstream.header(b"SZP1", SHAPE, np.float32, step=1.0, fill_bits=7, body=BODY)
    assert from_check.tobytes() == from_body.tobytes()


@pytest.mark.parametrize("magic", [b"SZP1", b"SZX1"])
@pytest.mark.parametrize("shape", [(), (0, 5), (7,), (1, 2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fill_bits", [None, 0, 0xFFFFFFFF])
def test_what_is_written_is_parsed(
    magic: bytes,
    shape: tuple[int, ...],
    dtype: type[np.float32] | type[np.float64],
    fill_bits: int | None,
) -> None:
    step = 0.0 if magic == b"SZX1" else 0.25
    head = szstream.header(magic, shape, dtype, step=step, fill_bits=fill_bits, body=BODY)

    parsed = szstream.parse(np.concatenate([head, BODY]), magic, shape, dtype)

    assert (parsed.step, parsed.fill_bits) == (step, fill_bits)
    assert parsed.body.tobytes() == BODY.tobytes()


@given(st.binary(max_size=400).filter(lambda raw: len(raw) % 4 == 0))
def test_check_sum_is_the_weighted_sum_of_words(raw: bytes) -> None:
    words = struct.unpack(f"<{len(raw) // 4}I", raw)

    check = szstream.check_sum(np.frombuffer(raw, np.uint8))

    assert check == sum((2 * i + 1) * w for i, w in enumerate(words)) % 2**64


def test_check_sum_is_right_beyond_one_block_and_wraps() -> None:
    words = np.full(200_001, 0xFFFFFFFF, np.uint32)
    weights = words.size**2  # the sum of the first n odd numbers

    check = szstream.check_sum(words.view(np.uint8))

    assert check == weights * 0xFFFFFFFF % 2**64


def test_check_sum_of_no_words_is_zero() -> None:
    assert szstream.check_sum(np.empty(0, np.uint8)) == 0


@pytest.mark.parametrize("position", range(72))
@pytest.mark.parametrize("bit", [0, 3, 7])
def test_every_changed_header_bit_is_refused(position: int, bit: int) -> None:
    stream = stream_of()
    stream[position] ^= 1 << bit

    with pytest.raises(ValueError, match=r".+"):
        szstream.parse(stream, b"SZP1", SHAPE, np.float32)


@pytest.mark.parametrize("length", [*range(72), 73, 74, 75, 76, 92])
def test_every_truncation_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=r"cut|check"):
        szstream.parse(stream_of()[:length], b"SZP1", SHAPE, np.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": 0}, "dtype code 0"),
        ({"dtype": 3}, "dtype code 3"),
        ({"dtype": 2}, "holds float64"),
        ({"ndim": 5}, "ndim 5"),
        ({"ndim": 2}, r"holds shape \(5, 1\)"),
        ({"flags": 5}, "flags 0x05"),
        ({"flags": 0}, "flag 1"),
        ({"reserved": b"\0\0\0\0\1"}, "reserved"),
        ({"dims": (5, 2, 1, 1)}, "must be 1"),
        ({"dims": (5, 1, 1, 0)}, "must be 1"),
        ({"dims": (4, 1, 1, 1)}, "holds shape"),
        ({"step": -1.0}, "not negative"),
        ({"step": -0.0}, "not negative"),
        ({"step": float("nan")}, "finite"),
        ({"step": float("inf")}, "finite"),
        ({"step": 0.1}, "float32 value"),
        ({"step": 1e300}, "float32 value"),
        ({"fill": 1}, "flag 2"),
        ({"flags": 3, "fill": 1 << 32}, "does not fit"),
        ({"check": 1}, "body was changed"),
    ],
)
def test_a_header_with_an_illegal_field_and_a_right_crc_is_refused(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        szstream.parse(stream_of(**changes), b"SZP1", SHAPE, np.float32)


def test_a_step_is_refused_in_an_szx_stream() -> None:
    stream = stream_of()
    stream[2] = ord("X")

    with pytest.raises(ValueError, match="szx"):
        szstream.parse(stream, b"SZX1", SHAPE, np.float32)


def test_the_other_format_is_refused_by_its_magic() -> None:
    with pytest.raises(ValueError, match="wrong format"):
        szstream.parse(stream_of(), b"SZX1", SHAPE, np.float32)


def test_a_stream_without_check_is_accepted_whatever_its_body() -> None:
    parsed = szstream.parse(stream_of(flags=0, check=0), b"SZP1", SHAPE, np.float32)

    assert parsed.check is None


def test_without_verification_the_promised_check_is_returned() -> None:
    stream = stream_of(check=12345)

    parsed = szstream.parse(stream, b"SZP1", SHAPE, np.float32, verify_check=False)

    assert parsed.check == 12345


@pytest.mark.parametrize(
    "stream", [np.zeros((4, 72), np.uint8), np.zeros(80, np.int8), np.zeros(0, np.uint8)]
)
def test_what_is_no_byte_stream_is_refused(stream: npt.NDArray[np.uint8]) -> None:
    with pytest.raises(ValueError, match="stream"):
        szstream.parse(stream, b"SZP1", SHAPE, np.float32)


@pytest.mark.parametrize(
    ("magic", "shape", "dtype", "step", "fill_bits", "body", "message"),
    [
        (b"SZQ1", SHAPE, np.float32, 0.0, None, BODY, "magic"),
        (b"SZP1", (1,) * 5, np.float32, 0.0, None, BODY, "axes"),
        (b"SZP1", SHAPE, np.int32, 0.0, None, BODY, "dtype"),
        (b"SZP1", SHAPE, np.float32, 0.1, None, BODY, "float32 value"),
        (b"SZX1", SHAPE, np.float32, 1.0, None, BODY, "szx"),
        (b"SZP1", SHAPE, np.float32, 1.0, 1 << 32, BODY, "does not fit"),
        (b"SZP1", SHAPE, np.float32, 1.0, None, BODY[:-1], "multiple of 4"),
    ],
)
def test_a_header_that_no_decoder_accepts_is_not_written(
    magic: bytes,
    shape: tuple[int, ...],
    dtype: type[np.generic],
    step: float,
    fill_bits: int | None,
    body: npt.NDArray[np.uint8],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        szstream.header(magic, shape, dtype, step=step, fill_bits=fill_bits, body=body)
