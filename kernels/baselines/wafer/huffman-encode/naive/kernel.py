"""huffman-encode on a row of PEs: each codes whole chunks of 4096 symbols in its own memory.

A PE holds the lengths and code words of all symbols beside its chunk: no more than NBINS of them.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

CHUNK, NBINS, WIDTH = 4096, 4096, 16
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def run(codes, lens):
    n = codes.size
    if lens.size > NBINS:
        raise NotImplementedError(f"a PE's memory has room for {NBINS} symbols, not {lens.size}")
    if n == 0:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    chunks = -(-n // CHUNK)
    width = min(chunks, WIDTH)
    size = width * CHUNK
    padded = np.zeros(-(-n // size) * size, np.uint16)
    padded[:n] = codes
    table = np.zeros(-(-lens.size // 4) * 4, np.uint8)
    table[: lens.size] = lens
    runner = loaded(width)
    put(runner, "lens", np.tile(table.view(np.uint32), width), width)
    runner.launch("make_words", np.uint16(lens.size), nonblock=False)
    bits, pieces = [], []
    for at in range(0, n, size):
        put(runner, "codes", padded[at : at + size].view(np.uint32), width)
        runner.launch("encode", np.uint32(min(size, n - at)), nonblock=False)
        used = get(runner, "bits", width, 1).reshape(-1)
        sizes = -(-used.astype(np.int64) // 32)
        rows = get(runner, "out", width, max(1, int(sizes.max())))
        bits.append(used)
        pieces += [row[:count] for row, count in zip(rows, sizes, strict=True)]
    runner.stop()
    return np.concatenate(bits)[:chunks].copy(), np.concatenate(pieces)


def put(runner, name, words, width):
    runner.memcpy_h2d(runner.get_id(name), words, 0, 0, width, 1, words.size // width, **COPY)


def get(runner, name, width, count):
    out = np.zeros(width * count, np.uint32)
    runner.memcpy_d2h(out, runner.get_id(name), 0, 0, width, 1, count, **COPY)
    return out.reshape(width, count)


def loaded(width):
    options = (
        f"--fabric-dims={width + 7},3 --fabric-offsets=4,1 "
        f"--params=width:{width} --memcpy --channels=1 -o out"
    )
    with SdkCompiler() as compiler:
        artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
    runner = SdkRuntime(artifact)
    runner.load()
    runner.run()
    return runner
