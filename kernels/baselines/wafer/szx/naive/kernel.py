"""szx on a rectangle of PEs: each codes whole chunks of 4096 values in its own memory.

The host part cuts the field into chunks and puts the pieces that come back one behind the other.
"""

import math
from pathlib import Path

import numpy as np
import szstream
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

MAGIC = b"SZX1"
BLOCK, BLOCKS = 128, 32
CHUNK = BLOCK * BLOCKS
SIDE = BLOCKS // 4
FILLED, RAW = 254, 255
WIDTH, HEIGHT = 8, 8
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def tolerance(abs_bound):
    """Largest float32 T whose rounded comparison proves the bound; 0 if it is too small."""
    t = np.float32(min(abs_bound, 2.0**101))
    above = np.nextafter(t, np.float32(np.inf))
    while t > 0 and float(t) + (float(above) - float(t)) / 2 > abs_bound:
        t, above = np.nextafter(t, np.float32(-np.inf)), t
    return 0.0 if t < 2.0**-100 else min(float(t), 2.0**100)


class Rectangle:
    """As many PEs as there are chunks, up to WIDTH times HEIGHT, running one program."""

    def __init__(self, chunks, decode):
        self.width = min(chunks, WIDTH)
        self.height = min(-(-chunks // self.width), HEIGHT)
        self.size = self.width * self.height
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

    def put(self, name, rows):
        """rows: uint32, one per PE; missing ones are zeros."""
        padded = np.zeros((self.size, rows.shape[1]), np.uint32)
        padded[: len(rows)] = rows
        self.runner.memcpy_h2d(
            self.runner.get_id(name), padded.reshape(-1),
            0, 0, self.width, self.height, rows.shape[1], **COPY,
        )  # fmt: skip

    def get(self, name, count, words):
        """The first `words` words of every one of the first `count` PEs."""
        words = max(words, 1)
        out = np.zeros(self.size * words, np.uint32)
        self.runner.memcpy_d2h(
            out, self.runner.get_id(name), 0, 0, self.width, self.height, words, **COPY
        )
        return out.reshape(self.size, words)[:count]

    def launch(self, name, *arguments):
        self.runner.launch(name, *arguments, nonblock=False)

    def batches(self, rows, n):
        """Chunks that the PEs take at once, with how many of the n values they hold."""
        for i in range(0, len(rows), self.size):
            total = min(n - i * CHUNK, self.size * CHUNK)
            yield rows[i : i + self.size], np.uint32(total)


def payload_words(codes, n):
    """Of every block, from its code; the last may be short."""
    counts = np.full(codes.size, BLOCK)
    counts[-1:] = (n - 1) % BLOCK + 1
    words = 1 + codes % 32 * -(-counts // 4) + 4 * (codes >= 32)
    words[codes == FILLED] = 0
    words[codes == RAW] = counts[codes == RAW]
    return words


def per_chunk(values):
    """Sums over the blocks of each chunk."""
    padded = np.zeros(-(-values.size // BLOCKS) * BLOCKS, np.int64)
    padded[: values.size] = values
    return padded.reshape(-1, BLOCKS).sum(axis=1)


def padded_rows(words, width):
    """Words as rows, the last filled up with zeros."""
    rows = np.zeros((-(-words.size // width), width), np.uint32)
    rows.reshape(-1)[: words.size] = words
    return rows


def compress(data, abs_bound):
    if data.dtype != np.float32:
        raise NotImplementedError("a PE has no 64-bit floats: float32 only")
    x = data.reshape(-1)
    fill, body = None, np.zeros(0, np.uint8)
    if x.size:
        fill, body = encoded(x, abs_bound)
    head = szstream.header(MAGIC, data.shape, data.dtype, step=0.0, fill_bits=fill, body=body)
    return np.concatenate([head, body])


def encoded(x, abs_bound):
    """(fill, body) of a field that is not empty."""
    t = tolerance(abs_bound)
    exponent = math.frexp(abs_bound)[1] - 1 if abs_bound > 0 else -10000
    rows = padded_rows(x.view(np.uint32), CHUNK)
    device = Rectangle(len(rows), decode=False)
    fill = survey(device, rows, x.size, t) if t > 0 else None
    fronts, pieces = [], []
    for batch, total in device.batches(rows, x.size):
        device.put("values", batch)
        device.launch(
            "encode_chunk", np.float32(t), np.int16(exponent),
            np.uint32(fill or 0), np.uint16(fill is not None), total,
        )  # fmt: skip
        front = device.get("front", len(batch), 2 * SIDE)
        codes = np.ascontiguousarray(front[:, :SIDE]).view(np.uint8).astype(np.int64).reshape(-1)
        codes = codes[: -(-int(total) // BLOCK)]
        sizes = per_chunk(payload_words(codes, int(total)))
        payload = device.get("payload", len(batch), int(sizes.max()))
        fronts.append(front)
        pieces += [row[:size] for row, size in zip(payload, sizes, strict=True)]
    device.runner.stop()
    front = np.concatenate(fronts)
    side = -(-x.size // (4 * BLOCK))
    tables = [front[:, at : at + SIDE].reshape(-1)[:side] for at in (0, SIDE)]
    return fill, np.concatenate([*tables, *pieces]).view(np.uint8)


def survey(device, rows, n, t):
    """The fill value by a first look at all values; None if there is none."""
    for batch, total in device.batches(rows, n):
        device.put("values", batch)
        device.launch("look", np.float32(t * 2.0**21), total)
        for found, bits in device.get("survey", len(batch), 2):
            if found:
                return int(bits)
    return None


def decompress(stream, shape, dtype):
    if dtype != np.float32:
        raise NotImplementedError("a PE has no 64-bit floats: float32 only")
    head = szstream.parse(stream, MAGIC, shape, dtype)
    n = math.prod(shape)
    blocks = -(-n // BLOCK)
    side = -(-blocks // 4)
    if head.body.size < 8 * side:
        raise ValueError("the stream is too short for its codes")
    check(head, blocks, n)
    if n == 0:
        return np.zeros(shape, dtype)
    words = head.body.view(np.uint32)
    fronts = np.concatenate([padded_rows(words[at : at + side], SIDE) for at in (0, side)], axis=1)
    sizes = per_chunk(payload_words(head.body[:blocks].astype(np.int64), n))
    payloads = np.zeros((len(fronts), max(1, int(sizes.max()))), np.uint32)
    ends = 2 * side + np.cumsum(sizes)
    for row, end, size in zip(payloads, ends, sizes, strict=True):
        row[:size] = words[end - size : end]
    device = Rectangle(len(fronts), decode=True)
    out = []
    pairs = zip(device.batches(fronts, n), device.batches(payloads, n), strict=True)
    for (front, total), (payload, _) in pairs:
        device.put("front", front)
        device.put("payload", payload)
        device.launch("decode_chunk", np.uint32(head.fill_bits or 0), total)
        out.append(device.get("values", len(front), CHUNK))
    device.runner.stop()
    return np.concatenate(out).reshape(-1)[:n].view(np.float32).reshape(shape)


def check(head, blocks, n):
    """Refuse what the format's specification refuses."""
    side = -(-blocks // 4) * 4
    codes = head.body[:blocks].astype(np.int64)
    drops = head.body[side : side + blocks]
    if head.body[blocks:side].any() or head.body[side + blocks : 2 * side].any():
        raise ValueError("the bytes that pad codes and drops are not zero")
    if ((codes < FILLED) & ((codes >= 64) | (codes % 32 >= 4))).any():
        raise ValueError("a block has a code that does not exist")
    if 2 * side + 4 * payload_words(codes, n).sum() != head.body.size:
        raise ValueError("the codes do not fit the payload")
    if head.fill_bits is None and ((codes >= 32) & (codes < RAW)).any():
        raise ValueError("a block uses the fill value, but the header has none")
    has_planes = (codes < FILLED) & (codes % 32 > 0)
    if (drops > np.where(has_planes, 23, 0)).any():
        raise ValueError("a block drops more bits than it may")
    if n % 4 and has_planes[-1]:
        m = (n - 1) % BLOCK + 1
        planes = int(codes[-1]) % 32
        tail = head.body[head.body.size - planes * (-(-m // 4) * 4) :].reshape(planes, -1)
        if tail[:, m:].any():
            raise ValueError("a byte that pads a plane is not zero")
