"""szp on rows of PEs: a row of four compresses a chunk of 4096 values, each PE doing one step.

The host part cuts the field into chunks, chooses the step as the format's specification says, and
puts the pieces that come back one behind the other.
"""

import math
from pathlib import Path

import numpy as np
import szstream
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

MAGIC = b"SZP1"
BLOCK, BLOCKS = 32, 128
CHUNK = BLOCK * BLOCKS
FRONT, PAYLOAD = 33, BLOCKS * 33
HEIGHT = 64
STAGES, LAST = 4, 3
"""PEs of a row: quantise, predict, transpose, store. Decompression uses as many chunks per row."""
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def tolerance(abs_bound):
    """Largest float32 T whose rounded comparison proves the bound; 0 means lossless."""
    t = np.float32(min(abs_bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > abs_bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


def step_for(t, largest):
    """The largest step, rounded down to float32, with which every value up to `largest` passes."""
    step = 2.0 * (t - 3.001 * 2.0**-24 * largest) * (1.0 - 8.0 * 2.0**-24)
    single = np.float32(max(step, 0.0))
    return np.nextafter(single, np.float32(0)) if float(single) > step else single


class Rows:
    """As many rows of PEs as there are chunks for, up to HEIGHT, running one program."""

    def __init__(self, chunks, decode):
        self.per_row = min(chunks, STAGES) if decode else 1
        self.width = self.per_row if decode else STAGES
        self.height = min(-(-chunks // self.per_row), HEIGHT)
        self.size = self.per_row * self.height
        options = (
            f"--fabric-dims={self.width + 7},{self.height + 2} "
            f"--fabric-offsets=4,1 --params=width:{self.width},height:{self.height} "
            f"--params=decode:{int(decode)} --memcpy --channels=1 -o out"
        )
        with SdkCompiler() as compiler:
            artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
        self.runner = SdkRuntime(artifact)
        self.runner.load()
        self.runner.run()

    def put(self, name, rows, column=0):
        """rows: uint32, one per chunk, missing ones padded with the last."""
        padded = np.concatenate([rows, np.repeat(rows[-1:], self.size - len(rows), axis=0)])
        self.runner.memcpy_h2d(
            self.runner.get_id(name), np.ascontiguousarray(padded.reshape(-1)),
            column, 0, self.per_row, self.height, rows.shape[1], **COPY,
        )  # fmt: skip

    def get(self, name, count, words, column=0):
        """The first `words` words of every one of the first `count` chunks."""
        words = max(words, 1)
        out = np.zeros(self.size * words, np.uint32)
        self.runner.memcpy_d2h(
            out, self.runner.get_id(name), column, 0, self.per_row, self.height, words, **COPY
        )
        return out.reshape(self.size, words)[:count]

    def launch(self, name, *arguments):
        self.runner.launch(name, *arguments, nonblock=False)


def payload_words(codes):
    """Of every block whose code is given."""
    rate = codes % 32
    words = np.where(rate > 0, rate + 1, 0) + (codes >= 32)
    words[codes == 254] = 0
    words[codes == 255] = BLOCK
    return words


def codes_of(front):
    return np.ascontiguousarray(front[:, 1:]).view(np.uint8).astype(np.int64)


def chunked(x):
    """uint32, one row per chunk, the last padded with the last value."""
    chunks = -(-x.size // CHUNK)
    rows = np.full(chunks * CHUNK, x[-1], np.float32)
    rows[: x.size] = x
    return rows.view(np.uint32).reshape(chunks, CHUNK)


def compress(data, abs_bound):
    if data.dtype != np.float32:
        raise NotImplementedError("a PE has no 64-bit floats: float32 only")
    x = data.reshape(-1)
    if x.size == 0:
        body = np.zeros(0, np.uint8)
        return szstream.header(MAGIC, data.shape, data.dtype, step=0.0, fill_bits=None, body=body)
    t = tolerance(abs_bound)
    rows = chunked(x)
    device = Rows(len(rows), decode=False)
    step, fill = np.float32(0), None
    if t > 0:
        step, fill = survey(device, rows, t)
    r = np.float32(1) / step if step > 0 else np.float32(0)
    fronts, pieces = [], []
    for batch in batches(device, rows):
        device.put("values", batch)
        device.launch(
            "encode_chunk", r, step, np.float32(t),
            np.uint32(fill or 0), np.uint16(fill is not None),
        )  # fmt: skip
        front = device.get("front", len(batch), FRONT, LAST)
        sizes = payload_words(codes_of(front)).sum(axis=1)
        payload = device.get("payload", len(batch), int(sizes.max()), LAST)
        fronts.append(front)
        pieces += [row[:size] for row, size in zip(payload, sizes, strict=True)]
    device.runner.stop()
    return assembled(data, step, fill, np.concatenate(fronts), pieces)


def batches(device, rows):
    return (rows[i : i + device.size] for i in range(0, len(rows), device.size))


def survey(device, rows, t):
    """(step, fill) by a first look at all values."""
    largest, fill = 0.0, None
    for batch in batches(device, rows):
        device.put("values", batch)
        device.launch("look", np.float32(t * 2.0**21))
        for magnitude, found, bits in device.get("survey", len(batch), 3):
            largest = max(largest, float(np.uint32(magnitude).view(np.float32)))
            if found and fill is None:
                fill = int(bits)
    return step_for(t, largest), fill


def assembled(data, step, fill, fronts, pieces):
    """The stream: bases, codes and payloads, each cut at the field's end."""
    n = data.size
    blocks = -(-n // BLOCK)
    codes = codes_of(fronts).reshape(-1)[:blocks]
    padded = np.zeros(-(-blocks // 4) * 4, np.uint8)
    padded[:blocks] = codes
    words = np.concatenate(pieces)[: payload_words(codes).sum()]
    if codes[-1] == 255 and n % BLOCK:
        words = words[: len(words) - BLOCK + n % BLOCK]
    bases = np.ascontiguousarray(fronts[:, 0])
    body = np.concatenate([bases.view(np.uint8), padded, words.view(np.uint8)])
    head = szstream.header(MAGIC, data.shape, data.dtype, step=step, fill_bits=fill, body=body)
    return np.concatenate([head, body])


def decompress(stream, shape, dtype):
    if dtype != np.float32:
        raise NotImplementedError("a PE has no 64-bit floats: float32 only")
    head = szstream.parse(stream, MAGIC, shape, dtype)
    n = math.prod(shape)
    if n == 0:
        if head.body.size:
            raise ValueError("an empty field has no body")
        return np.zeros(shape, dtype)
    blocks, chunks = -(-n // BLOCK), -(-n // CHUNK)
    front_bytes = 4 * chunks + -(-blocks // 4) * 4
    if head.body.size < front_bytes:
        raise ValueError("the stream is too short for its codes")
    codes = np.zeros(chunks * BLOCKS, np.uint8)
    codes[:blocks] = head.body[4 * chunks : 4 * chunks + blocks]
    words = head.body[front_bytes:].view(np.uint32)
    check(head, codes[:blocks].astype(np.int64), words, n)
    fronts = np.zeros((chunks, FRONT), np.uint32)
    fronts[:, 0] = head.body[: 4 * chunks].view(np.uint32)
    fronts[:, 1:] = codes.view(np.uint32).reshape(chunks, -1)
    sizes = payload_words(codes.astype(np.int64)).reshape(chunks, BLOCKS).sum(axis=1)
    padded = np.zeros(int(sizes.sum()), np.uint32)
    padded[: words.size] = words
    ends = np.cumsum(sizes)
    payloads = np.zeros((chunks, max(1, int(sizes.max()))), np.uint32)
    for row, end, size in zip(payloads, ends, sizes, strict=True):
        row[:size] = padded[end - size : end]
    device = Rows(chunks, decode=True)
    out = []
    for start in range(0, chunks, device.size):
        part = slice(start, start + device.size)
        device.put("front", fronts[part])
        device.put("payload", payloads[part])
        device.launch(
            "decode_chunk", np.float32(head.step), np.uint32(head.fill_bits or 0), np.uint16(BLOCKS)
        )
        out.append(device.get("values", len(fronts[part]), CHUNK))
    device.runner.stop()
    return np.concatenate(out).reshape(-1)[:n].view(np.float32).reshape(shape)


def check(head, codes, words, n):
    """Refuse what the format's specification refuses."""
    wanted = payload_words(codes).sum()
    if codes[-1] == 255 and n % BLOCK:
        wanted -= BLOCK - n % BLOCK
    if ((codes >= 64) & (codes < 254)).any() or wanted != words.size:
        raise ValueError("the codes do not fit the payload")
    if head.fill_bits is None and ((codes >= 32) & (codes < 255)).any():
        raise ValueError("a block uses the fill value, but the header has none")
    if head.step == 0.0 and (codes != 255).any():
        raise ValueError("a lossless stream has raw blocks only")
