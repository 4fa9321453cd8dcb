"""Kernels to be made wrong, and the data that shows it: what `wrong_results` is written with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernels.records import Array

CODEC = """\
import numpy as np

def encoded(flat, step):
    return np.rint(flat.astype(np.float64) / step).astype(np.int32)

def decoded(q, step, shape):
    return q * step

def compress(data, abs_bound):
    step = 2 * abs_bound * (1 - 1e-6)
    flat = data.reshape(-1)
    return np.concatenate((np.array([step]).view(np.uint8), encoded(flat, step).view(np.uint8)))

def decompress(stream, shape, dtype):
    step = stream[:8].view(np.float64)[0]
    return decoded(stream[8:].view(np.int32), step, shape).astype(dtype).reshape(shape)
"""
"""Right for what is finite and not too large."""
RAW = """\
import numpy as np

def changed(x):
    return x

def compress(data, abs_bound):
    return np.frombuffer(changed(data.copy()).tobytes(), np.uint8)

def decompress(stream, shape, dtype):
    return stream.view(dtype).reshape(shape)
"""
RAW_SZP = """\
import numpy as np
import szstream

def compress(data, abs_bound):
    blocks = -(-data.size // 32)
    base = np.zeros(4 * -(-blocks // 128), np.uint8)
    codes = np.zeros(-(-blocks // 4) * 4, np.uint8)
    codes[:blocks] = 255
    body = np.concatenate((base, codes, data.reshape(-1).view(np.uint8)))
    head = szstream.header(b"SZP1", data.shape, data.dtype, step=0.0, fill_bits=None, body=body)
    return np.concatenate((head, body))

def decompress(stream, shape, dtype):
    n = int(np.prod(shape))
    if stream.size < 4 * n:
        FAIL
    return stream[-4 * n:].view(dtype).reshape(shape)
"""
"""Right of its kind: all blocks raw."""


def _random() -> np.random.Generator:
    return np.random.default_rng(20301)


def holes() -> Array:
    walk = WALK.copy().reshape(-1)
    walk[[70, 71, 500, 1500]] = np.nan, np.inf, -np.inf, np.nan
    return walk


def filled() -> Array:
    walk = WALK.copy().reshape(-1)
    walk[[70, 71, 500, 1500]] = 1e20
    return walk


WALK = _random().standard_normal((40, 53)).cumsum(axis=1).astype(np.float32)
CUBES = _random().standard_normal((7, 11, 33)).cumsum(axis=2).astype(np.float32)
LONG = _random().standard_normal(9001).cumsum().astype(np.float32)
NOISE = _random().uniform(-100, 100, 4003).astype(np.float32)
GRID = NOISE[:4000].reshape(40, 100)
WIDE = _random().uniform(-1000, 1000, 20000).astype(np.float32)
JUMPS = np.where(np.arange(2000) // 400 % 2, 40.0, 0.0).astype(np.float32) + WALK.reshape(-1)[:2000]
STEEP = np.where(np.arange(600) % 97 == 5, 2e6 + np.arange(600), np.arange(600) % 13).astype("f4")


@dataclass(frozen=True)
class Wrong:
    """One of them."""

    source: str
    task: str = "sz-open"
    data: Array = field(default_factory=lambda: WALK)
    mode: str = "abs"
    bound: float = 0.125
    says: str = ""
    """What the guidance must name."""


def decoding(expression: str, data: Array = WALK, says: str = "", mode: str = "abs") -> Wrong:
    """The codec with another decoder."""
    source = CODEC.replace("return q * step", f"return {expression}")
    return Wrong(source, data=data, says=says, mode=mode)


def encoding(
    expression: str, decoder: str = "q * step", data: Array = WALK, says: str = ""
) -> Wrong:
    """The codec with another encoder."""
    wanted = "np.rint(flat.astype(np.float64) / step).astype(np.int32)"
    source = CODEC.replace(wanted, expression).replace("return q * step", f"return {decoder}")
    return Wrong(source, data=data, says=says)


def changing(statement: str, data: Array = WALK, says: str = "", task: str = "sz-open") -> Wrong:
    """Raw storage of values that were changed."""
    return Wrong(
        RAW.replace("    return x\n", f"    {statement}\n    return x\n"), task, data, says=says
    )


def running(task: str, body: str, data: Array = WALK, says: str = "") -> Wrong:
    """A stage."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return Wrong(f"import numpy as np\n\ndef run(x, *more):\n{lines}", task, data, says=says)


PACK = """
blocks = np.zeros((-(-x.size // 32), 32), np.uint32)
blocks.reshape(-1)[: x.size] = x
rates = np.array([int(b.max()).bit_length() for b in blocks], np.uint8)
i = np.arange(32, dtype=np.uint32)
planes = []
for b, r in zip(blocks, rates):
    planes += [np.sum(((b >> k) & 1) << i, dtype=np.uint32) for k in range(r)]
words = np.array(planes, np.uint32)
return rates, words
"""
ENCODE = """
lens = more[0]
used = [s for _, s in sorted((int(n), s) for s, n in enumerate(lens) if n)]
table, code, last = {}, -1, 0
for s in used:
    n = int(lens[s])
    code = (code + 1) << (n - last) if last else 0
    table[s], last = format(code, f"0{n}b"), n
bits, words = [], []
for a in range(0, x.size, 4096):
    text = "".join(table[s] for s in x[a : a + 4096].tolist())
    bits.append(len(text))
    text += "0" * (-len(text) % 32)
    words += [int(text[k : k + 32], 2) for k in range(0, len(text), 32)]
return np.array(bits, np.uint32), np.array(words, np.uint32)
"""
