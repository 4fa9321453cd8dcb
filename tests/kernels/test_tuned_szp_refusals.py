"""The tuned `szp` decoder and the streams that the golden one refuses: the same table."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.records import Array
from kernels.streams import szp
from kernels.streams.errors import StreamError
from kernels.streams.header import Stream
from tests.kernels.test_refusals import F32, F64, LEGAL, LOSSLESS, SPOILED, Parts, codes
from tests.kernels.tuned_codecs import tuned_codecs

SHAPE = (70,)


def decode(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    return np.asarray(tuned_codecs()["szp"].kernel.decompress(stream, shape, dtype))


@pytest.mark.parametrize("parts", [LEGAL, replace(LEGAL, flags=2)], ids=["checked", "unchecked"])
def test_the_streams_that_the_others_spoil_are_decoded(parts: Parts) -> None:
    stream = parts.build()
    moved = np.concatenate([np.zeros(1, np.uint8), stream])[1:]

    assert decode(stream, SHAPE, F32).tobytes() == szp.decode(stream, SHAPE, F32).tobytes()
    assert decode(moved, SHAPE, F32).tobytes() == szp.decode(stream, SHAPE, F32).tobytes()
    assert decode(LOSSLESS.build(), (2,), F32).tolist() == [1, 2]


@pytest.mark.parametrize("parts", [parts for parts, _ in SPOILED.values()], ids=SPOILED.keys())
def test_a_stream_with_one_thing_wrong_is_refused(parts: Parts) -> None:
    shape = (2,) if parts.dims[0] == 2 else SHAPE

    with pytest.raises(ValueError, match=r"."):
        decode(parts.build(), shape, F32)


@pytest.mark.parametrize("code", [code for code in range(256) if not (code < 64 or code >= 254)])
def test_every_code_that_stands_for_nothing_is_refused(code: int) -> None:
    with pytest.raises(ValueError, match="code"):
        decode(replace(LEGAL, body=codes(33, code, 255, 0)).build(), SHAPE, F32)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((71,), F32), ((70, 1), F32), ((35, 2), F32), ((70,), F64), ((), F32)],
    ids=str,
)
def test_a_decoder_told_another_shape_or_dtype_refuses(
    shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(LEGAL.build(), shape, dtype)


def test_a_stream_that_is_not_flat_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(LEGAL.build().reshape(2, -1), SHAPE, F32)
    with pytest.raises(ValueError, match=r"."):
        decode(LEGAL.build().view(np.int8), SHAPE, F32)


def test_an_szx_stream_is_not_an_szp_stream() -> None:
    stream = tuned_codecs()["szx"].encode(np.zeros(70, np.float32), 0.1)

    with pytest.raises(ValueError, match=r"."):
        decode(stream, SHAPE, F32)


def test_a_float64_step_need_not_be_a_float32_value() -> None:
    parts = Parts(
        code=2, flags=1, dims=(1, 1, 1, 1), step=0.1, fill=0, body=struct.pack("<iI", 3, 0)
    )

    assert decode(parts.build(), (1,), F64).tolist() == [3 * 0.1]


@given(junk=st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_junk_ends_as_the_golden_decoder_says(junk: bytes) -> None:
    stream = replace(LEGAL, body=junk).build()

    try:
        expected = szp.decode(stream, SHAPE, F32)
    except StreamError:
        with pytest.raises(ValueError, match=r"."):
            decode(stream, SHAPE, F32)
    else:
        assert decode(stream, SHAPE, F32).tobytes() == expected.tobytes()
