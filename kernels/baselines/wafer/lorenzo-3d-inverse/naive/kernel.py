"""lorenzo-3d-inverse on a row of PEs: each sums up its columns and sends sums of rows east.

A launch takes a plane, whose columns the host part cuts among PEs; a PE keeps what they came to.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

LEAST, WIDTH, VALUES = 16, 128, 4096
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def run(d):
    if d.size == 0:
        return np.zeros(d.shape, np.int32)
    # The sums don't depend on the order of the axes: the longest is cut among PEs.
    order = sorted(range(3), key=lambda axis: d.shape[axis])
    turned = d.transpose(order)
    planes, rows, columns = turned.shape
    tile = max(min(LEAST, VALUES // rows - 1), -(-columns // WIDTH))
    width = -(-columns // tile)
    if rows * (tile + 1) > VALUES:
        raise NotImplementedError(f"a PE keeps a plane's columns: at most {VALUES} values")
    padded = np.zeros((planes, rows, width * tile), np.int32)
    padded[:, :, :columns] = turned
    runner = loaded(width, tile, rows, kept=rows * tile + 1)
    out = []
    for plane in padded.reshape(planes, rows, width, tile):
        parts = plane.transpose(1, 0, 2).reshape(width, rows * tile)
        sums = launched(runner, parts, "begin")
        out.append(sums.reshape(width, rows, tile).transpose(1, 0, 2).reshape(rows, -1))
    runner.stop()
    return np.ascontiguousarray(np.stack(out)[:, :, :columns].transpose(np.argsort(order)))


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
