"""Damaged streams and the tuned `szp`, `szx`: every flipped bit, cut or added byte is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.tuned_codecs import Stream, Tuned, kinds_of_streams, tuned_codecs

KINDS = kinds_of_streams()


@pytest.fixture(params=["szp", "szx"])
def codec(request: pytest.FixtureRequest) -> Tuned:
    return tuned_codecs()[request.param]


def refused(codec: Tuned, stream: Stream, kind: str) -> bool:
    data, _ = KINDS[kind]
    try:
        codec.kernel.decompress(stream, data.shape, data.dtype)
    except ValueError:
        return True
    return False


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stream(codec: Tuned, kind: str) -> Stream:
    data, bound = KINDS[kind]
    stream = codec.kernel.compress(data.copy(), bound).copy()
    assert not refused(codec, stream, kind)
    return np.asarray(stream)


def test_every_kind_of_block_is_among_the_streams() -> None:
    seen: dict[str, set[str]] = {"szp": set(), "szx": set()}
    for name, codec in tuned_codecs().items():
        for data, bound in KINDS.values():
            stream = codec.encode(data, bound)
            blocks = -(-data.size // (32 if name == "szp" else 128))
            start = 72 + (4 * -(-data.size // 4096) if name == "szp" else 0)
            for code in stream[start : start + blocks].tolist():
                kind = "masked" if 32 <= code < 64 else "coded" if code < 32 else str(code)
                seen[name].add(kind if code else "constant")

    assert seen["szp"] == seen["szx"] == {"masked", "coded", "constant", "254", "255"}


def test_every_flipped_bit_is_refused(codec: Tuned, kind: str, stream: Stream) -> None:
    accepted = []
    for bit in range(8 * stream.size):
        stream[bit // 8] ^= 1 << bit % 8
        if not refused(codec, stream, kind):
            accepted.append(bit)
        stream[bit // 8] ^= 1 << bit % 8

    assert accepted == []


def test_every_truncation_is_refused(codec: Tuned, kind: str, stream: Stream) -> None:
    assert [n for n in range(stream.size) if not refused(codec, stream[:n], kind)] == []


def test_appended_bytes_are_refused(codec: Tuned, kind: str, stream: Stream) -> None:
    for count in range(1, 9):
        for value in (0, 1, 255):
            longer = np.concatenate([stream, np.full(count, value, np.uint8)])

            assert refused(codec, longer, kind)


def test_damage_is_refused_by_two_threads_too(codec: Tuned) -> None:
    data = np.sin(np.arange(50_000, dtype=np.float32) / 50)
    data[::97] = np.nan
    stream = codec.kernel.compress(data.copy(), 1e-3).copy()
    places = np.random.default_rng(1).integers(72, stream.size, 300)

    with codec.with_threads(2):
        for place in places.tolist():
            stream[place] ^= 0x20
            with pytest.raises(ValueError, match=r"."):
                codec.kernel.decompress(stream, data.shape, data.dtype)
            stream[place] ^= 0x20
        decoded = codec.kernel.decompress(stream, data.shape, data.dtype)

    assert np.array_equal(decoded, codec.decode(stream, data.shape, data.dtype), equal_nan=True)


def test_more_illegal_codes_than_any_sum_of_sizes_could_hide_are_refused() -> None:
    # 2²⁴ codes that each stand for 2⁴⁰ words add up to 0 modulo 2⁶⁴; those of no slab do.
    coder = tuned_codecs()["szp"].kernel.coder
    codes = np.full(1 << 24, 200, np.uint8)
    sizes = np.full(256, coder.ILLEGAL, np.int64)
    starts = np.zeros(1 + (1 << 10), np.int64)

    legal = coder.measure(codes, sizes, 1 << 7, 1 << 17, starts)

    assert starts[-1] == 0

    assert not legal
