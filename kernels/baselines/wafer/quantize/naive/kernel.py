"""quantize on a rectangle of PEs: each takes 4096 values at a time.

A first launch finds the largest magnitude, from which the host chooses the step as the task's page
says; the second quantises.
"""

from pathlib import Path

import numpy as np
from cerebras.sdk.client import SdkCompiler
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

PIECE = 4096
WIDTH, HEIGHT = 16, 16
COPY = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def tolerance(abs_bound):
    """Largest float32 T whose rounded comparison proves the bound; 0 means that nothing is kept."""
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


class Rectangle:
    """As many PEs as there are pieces, up to WIDTH times HEIGHT."""

    def __init__(self, x):
        pieces = -(-x.size // PIECE)
        self.width = min(pieces, WIDTH)
        self.height = min(-(-pieces // self.width), HEIGHT)
        size = self.width * self.height * PIECE
        padded = np.zeros(-(-x.size // size) * size, np.float32)
        padded[: x.size] = x
        self.batches = padded.view(np.uint32).reshape(-1, size)
        options = (
            f"--fabric-dims={self.width + 7},{self.height + 2} --fabric-offsets=4,1 "
            f"--params=width:{self.width},height:{self.height} --memcpy --channels=1 -o out"
        )
        with SdkCompiler() as compiler:
            artifact = compiler.compile(Path(__file__).parent, "layout.csl", options, ".")
        self.runner = SdkRuntime(artifact)
        self.runner.load()
        self.runner.run()

    def put(self, words):
        self.runner.memcpy_h2d(
            self.runner.get_id("values"), words, 0, 0, self.width, self.height, PIECE, **COPY
        )

    def get(self, name, count):
        out = np.zeros(self.width * self.height * count, np.uint32)
        self.runner.memcpy_d2h(
            out, self.runner.get_id(name), 0, 0, self.width, self.height, count, **COPY
        )
        return out


def run(x, eb):
    if x.size == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.uint8), np.float32(0)
    device = Rectangle(x)
    t = tolerance(eb)
    step = surveyed(device, t) if t > 0 else np.float32(0)
    r = np.float32(1) / step if step > 0 else np.float32(0)
    q, kept = [], []
    for words in device.batches:
        device.put(words)
        device.runner.launch("quantise", r, step, np.float32(t), nonblock=False)
        q.append(device.get("q", PIECE))
        kept.append(device.get("kept", PIECE // 4))
    device.runner.stop()
    whole = np.concatenate(q).view(np.int32)[: x.size].copy()
    return whole, np.concatenate(kept).view(np.uint8)[: x.size].copy(), step


def surveyed(device, t):
    """The step, by a first look at all values."""
    largest = 0.0
    for words in device.batches:
        device.put(words)
        device.runner.launch("look", np.float32(t * 2.0**21), nonblock=False)
        largest = max(largest, float(device.get("survey", 1).view(np.float32).max()))
    return step_for(t, largest)
