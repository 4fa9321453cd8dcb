"""compact on a row of PEs: each packs its own slots, and tells the next where its words end.

The host part cuts the slots into pieces and puts what comes back one behind the other.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

WORDS, WIDTH = 4096, 256
MOST = 8000
"""Words of a slot that fit into a PE."""
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def run(slots, sizes):
    blocks, room = slots.shape
    if room > MOST:
        raise NotImplementedError(f"a slot of {room} words: a PE has room for {MOST}")
    if blocks == 0:
        return np.zeros(1, np.uint32), np.zeros(0, np.uint32)
    room = max(room, 1)
    per_pe = min(max(1, WORDS // room), 256)
    width = min(-(-blocks // per_pe), WIDTH)
    size = width * per_pe
    launches = -(-blocks // size)
    content = np.zeros((launches * size, room), np.uint32)
    content[:blocks, : slots.shape[1]] = slots
    counts = np.zeros((launches, width, per_pe), np.uint32)
    counts.reshape(-1)[:blocks] = sizes
    runner = loaded(width, per_pe, room)
    carry, starts, packed = 0, [], []
    for words, own in zip(content.reshape(launches, -1), counts, strict=True):
        put(runner, "words", words, width)
        put(runner, "sizes", own.reshape(-1), width)
        runner.launch("pack", np.uint32(carry), nonblock=False)
        offsets = fetched(runner, "offsets", width, per_pe + 1)
        used = own.sum(axis=1)
        rows = fetched(runner, "words", width, max(1, int(used.max())))
        packed += [row[:count] for row, count in zip(rows, used, strict=True)]
        starts.append(offsets[:, :-1].reshape(-1))
        carry = offsets[-1, -1]
    runner.stop()
    ends = np.append(np.concatenate(starts), carry)
    return ends[: blocks + 1].astype(np.uint32), np.concatenate(packed)


def loaded(width, per_pe, room):
    options = (
        f"--fabric-dims={width + 7},3 --fabric-offsets=4,1 "
        f"--params=width:{width},slots:{per_pe},room:{room} --memcpy --channels=1 -o out"
    )
    with SdkCompiler() as compiler:
        artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
    runner = SdkRuntime(artifact)
    runner.load()
    runner.run()
    return runner


def put(runner, name, words, width):
    runner.memcpy_h2d(runner.get_id(name), words, 0, 0, width, 1, words.size // width, **COPY)


def fetched(runner, name, width, count):
    """The first `count` words of every PE, a row each."""
    out = np.zeros(width * count, np.uint32)
    runner.memcpy_d2h(out, runner.get_id(name), 0, 0, width, 1, count, **COPY)
    return out.reshape(width, count)
