"""bitunpack on a rectangle of PEs: each unpacks 64 blocks in its own memory.

The host part only finds, by the rates, which words belong to which piece.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

BLOCK, BLOCKS = 32, 64
PIECE = BLOCK * BLOCKS
WIDTH, HEIGHT = 16, 16
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def run(rates, words, n):
    if n == 0:
        return np.zeros(0, np.uint32)
    pieces = -(-n // PIECE)
    width = min(pieces, WIDTH)
    height = min(-(-pieces // width), HEIGHT)
    size = width * height
    launches = -(-pieces // size)
    padded = np.zeros((launches * size, BLOCKS), np.uint8)
    padded.reshape(-1)[: rates.size] = rates
    ends = np.cumsum(padded.sum(axis=1, dtype=np.int64))
    starts = ends - padded.sum(axis=1, dtype=np.int64)
    most = max(1, int((ends - starts).max()))
    rows = np.zeros((launches * size, most), np.uint32)
    for row, start, end in zip(rows, starts, ends, strict=True):
        row[: end - start] = words[start:end]
    runner = loaded(width, height)
    out = []
    for at in range(0, launches * size, size):
        sent = {"rates": padded[at : at + size].view(np.uint32), "words": rows[at : at + size]}
        for name, part in sent.items():
            runner.memcpy_h2d(
                runner.get_id(name), part.reshape(-1), 0, 0, width, height, part.shape[1], **COPY
            )
        runner.launch("unpack", nonblock=False)
        values = np.zeros(size * PIECE, np.uint32)
        runner.memcpy_d2h(values, runner.get_id("values"), 0, 0, width, height, PIECE, **COPY)
        out.append(values)
    runner.stop()
    return np.concatenate(out)[:n].copy()


def loaded(width, height):
    options = (
        f"--fabric-dims={width + 7},{height + 2} --fabric-offsets=4,1 "
        f"--params=width:{width},height:{height} --memcpy --channels=1 -o out"
    )
    with SdkCompiler() as compiler:
        artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
    runner = SdkRuntime(artifact)
    runner.load()
    runner.run()
    return runner
