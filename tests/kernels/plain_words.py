"""`words` of the codec `sz` in plain Python, with every access to memory checked.

Each array has a region of addresses of its own, far from the others, so that a place outside of an
array is an AddressError: the functions of `huffman`, `tokens` and `entropy` run as they are on it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

REGION = 40
"""Bits of an address inside an array."""
BLOCK, DIRECT, HIGHEST = 32, 32, 124
LOW_64 = (1 << 64) - 1

_arrays: list[npt.NDArray[np.uint8]] = []


class AddressError(IndexError):
    """An access outside of every array."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def address(array: npt.NDArray[Any]) -> int:
    _arrays.append(array.reshape(-1).view(np.uint8))
    return len(_arrays) << REGION


def _bytes(start: int, size: int) -> npt.NDArray[np.uint8]:
    region, offset = int(start) >> REGION, int(start) & ((1 << REGION) - 1)
    if not 0 < region <= len(_arrays) or offset + size > _arrays[region - 1].size:
        raise AddressError(f"{size} bytes at {offset} of array {region}")
    return _arrays[region - 1][offset : offset + size]


def _get(start: int, size: int, *, signed: bool = False) -> int:
    return int.from_bytes(_bytes(start, size).tobytes(), "little", signed=signed)


def _put(start: int, size: int, value: int) -> None:
    low = int(value) & ((1 << 8 * size) - 1)
    _bytes(start, size)[:] = np.frombuffer(low.to_bytes(size, "little"), np.uint8)


def byte_at(start: int, k: int) -> int:
    return _get(start + k, 1)


def half_at(start: int, k: int) -> int:
    return _get(start + 2 * k, 2)


def word_at(start: int, k: int) -> int:
    return _get(start + 4 * k, 4)


def code_at(start: int, k: int) -> int:
    return _get(start + 4 * k, 4, signed=True)


def item_at(start: int, k: int) -> int:
    return _get(start + 8 * k, 8, signed=True)


def long_at(start: int, k: int) -> int:
    return _get(start + k, 8, signed=True)


def put_byte(start: int, k: int, value: int) -> None:
    _put(start + k, 1, value)


def put_half(start: int, k: int, value: int) -> None:
    _put(start + 2 * k, 2, value)


def put_word(start: int, k: int, value: int) -> None:
    _put(start + 4 * k, 4, value)


def put_item(start: int, k: int, value: int) -> None:
    _put(start + 8 * k, 8, value)


def put_long(start: int, k: int, value: int) -> None:
    _put(start + k, 8, value)


def add_word(start: int, k: int, more: int) -> None:
    put_word(start, k, word_at(start, k) + more)


def add_item(start: int, k: int, more: int) -> None:
    put_item(start, k, item_at(start, k) + more)


def clear(start: int, size: int) -> None:
    _bytes(start, size)[:] = 0


def copy(source: int, size: int, target: int) -> None:
    _bytes(target, size)[:] = _bytes(source, size)


def window_at(source: int, bit: int) -> int:
    return (long_at(source, bit >> 3) & LOW_64) >> (bit & 7)


def shifted_down(word: int, bits: int) -> int:
    return (int(word) & LOW_64) >> int(bits)


def octave(size: int) -> int:
    return (int(size) & 0xFFFFFFFF).bit_length() - 1


def ones(word: int) -> int:
    return (int(word) & LOW_64).bit_count()


def turned(word: int, length: int) -> int:
    return int(f"{int(word) & ((1 << length) - 1):0{length}b}"[::-1], 2)


def spread(word: int) -> int:
    return sum((word >> (4 * i) & 15) << (8 * i) for i in range(8))


def gathered(word: int) -> int:
    return sum((word >> (8 * i) & 15) << (4 * i) for i in range(8))


def bytes_in(word: int) -> int:
    return sum((1 << i) for i in range(8) if word >> (8 * i) & 255)


def pack_bytes(word: int, mask: int) -> int:
    packed = [word >> (8 * i) & 255 for i in range(8) if mask >> i & 1]
    return sum(byte << (8 * i) for i, byte in enumerate(packed))


def spread_bytes(source: int, at: int, mask: int) -> int:
    word = 0
    for i in range(8):
        if mask >> i & 1:
            word |= byte_at(source, at) << (8 * i)
            at += 1
    return word


def signs(codes: int, k: int) -> tuple[int, int]:
    values = [code_at(codes, k + i) for i in range(BLOCK)]
    plus = sum(1 << i for i, code in enumerate(values) if code not in (0, -1))
    return plus, sum(1 << i for i, code in enumerate(values) if code not in (0, 1))


def pack(codes: int, k: int, mask: int, target: int, at: int) -> None:
    packed = [code_at(codes, k + i) for i in range(16) if mask >> i & 1]
    for i, code in enumerate(packed + [-1] * (16 - len(packed))):
        put_word(target, at + i, code)


def spell(codes: int, k: int, plus: int, minus: int, others: int, at: int) -> None:
    for i in range(BLOCK):
        up, down = plus >> i & 1, minus >> i & 1
        put_word(codes, k + i, code_at(others, at) if up and down else up - down)
        at += up & down


def put_tokens(codes: int, k: int, target: int, at: int) -> int:
    far = 0
    for i in range(16):
        code = code_at(codes, k + i)
        kind = size = abs(code)
        if size >= DIRECT:
            top = octave(size)
            kind = min(DIRECT - 20 + 4 * top + (size >> (top - 2) & 3), HIGHEST)
            far |= 1 << i
        put_byte(target, at + i, 127 - kind if code < 0 else 128 + kind)
    return far


def outside(tokens: int, k: int, first: int, count: int) -> int:
    return sum(1 << i for i in range(16) if (byte_at(tokens, k + i) - first) & 255 >= count)


@contextmanager
def _standing_in(modules: dict[str, ModuleType]) -> Any:
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def plain_entropy(folder: Path) -> ModuleType:
    """The module `entropy` of a folder, on these words and without compilation."""
    numba = ModuleType("numba")
    numba.__dict__["njit"] = lambda **_options: compiled
    loaded = {"numba": numba, "words": sys.modules[__name__]}
    module = numba
    for name in ("huffman", "tokens", "entropy"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with _standing_in(loaded):
            spec.loader.exec_module(module)
        # Python's own numbers do not overflow, and mix with each other without loss.
        for constant, value in list(vars(module).items()):
            if isinstance(value, np.integer):
                setattr(module, constant, int(value))
        loaded[name] = module
    return module


def forget() -> None:
    """No array has addresses any more."""
    _arrays.clear()
