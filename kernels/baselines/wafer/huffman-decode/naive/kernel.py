"""huffman-decode on a row of PEs: each decodes whole chunks of 4096 symbols in its own memory.

A PE holds the lengths of all symbols, and them in order, beside its chunk: no more than NBINS.
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


def run(lens, bits, words, n):
    if lens.size > NBINS:
        raise NotImplementedError(f"a PE's memory has room for {NBINS} symbols, not {lens.size}")
    if n == 0:
        return np.zeros(0, np.uint16)
    width = min(bits.size, WIDTH)
    sizes = -(-bits.astype(np.int64) // 32)
    ends = np.cumsum(sizes)
    rows = np.zeros((-(-bits.size // width) * width, max(1, int(sizes.max()))), np.uint32)
    for row, end, size in zip(rows, ends, sizes, strict=False):
        row[:size] = words[end - size : end]
    table = np.zeros(-(-lens.size // 4) * 4, np.uint8)
    table[: lens.size] = lens
    runner = loaded(width)
    put(runner, "lens", np.tile(table.view(np.uint32), width), width)
    runner.launch("sort_symbols", np.uint16(lens.size), nonblock=False)
    out = []
    for at in range(0, len(rows), width):
        put(runner, "words", rows[at : at + width].reshape(-1), width)
        left = min(width * CHUNK, n - at * CHUNK)
        runner.launch("decode", np.uint32(left), nonblock=False)
        out.append(get(runner, "codes", width, CHUNK // 2).reshape(-1))
    runner.stop()
    return np.concatenate(out).view(np.uint16)[:n].copy()


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
