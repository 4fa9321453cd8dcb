"""lorenzo-1d-inverse on a row of PEs: each sums up its columns and sends sums of rows east.

The host part cuts the array into as many pieces as there are PEs, and tells the next launch what
the last one has come to.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

TILE, WIDTH = 2048, 256
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def run(d):
    if d.size == 0:
        return np.zeros(d.shape, np.int32)
    width = min(-(-d.size // TILE), WIDTH)
    size = width * TILE
    flat = np.zeros(-(-d.size // size) * size, np.int32)
    flat[: d.size] = d
    runner = loaded(width, TILE, rows=1, kept=1)
    carry, out = 0, []
    for part in flat.reshape(-1, width, TILE):
        out.append(launched(runner, part, "run", np.int32(carry)).reshape(-1))
        carry = out[-1][-1]
    runner.stop()
    return np.concatenate(out)[: d.size]


def loaded(width, tile, rows, kept):
    """A row of `width` PEs, with `rows` times `tile` values each."""
    options = (
        f"--fabric-dims={width + 7},3 --fabric-offsets=4,1 "
        f"--params=width:{width},tile:{tile},rows:{rows},kept:{kept} --memcpy --channels=1 -o out"
    )
    with SdkCompiler() as compiler:
        artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
    runner = SdkRuntime(artifact)
    runner.load()
    runner.run()
    return runner


def launched(runner, parts, function, *arguments):
    """What every PE's part, a row of `parts`, comes to."""
    width, count = parts.shape
    sent = np.ascontiguousarray(parts).view(np.uint32).reshape(-1)
    values = runner.get_id("values")
    runner.memcpy_h2d(values, sent, 0, 0, width, 1, count, **COPY)
    runner.launch(function, *arguments, nonblock=False)
    back = np.zeros(sent.size, np.uint32)
    runner.memcpy_d2h(back, values, 0, 0, width, 1, count, **COPY)
    return back.view(np.int32).reshape(width, count)
