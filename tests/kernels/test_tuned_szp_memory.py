"""The tuned `szp` and `szx` on large fields: memory beyond input, stream and output is bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

PROGRAM = """
import gc, json, resource, sys
import numpy as np
from tests.kernels.tuned_codecs import tuned_codecs

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

name, threads, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kernel = tuned_codecs()[name].kernel
kernel.team.size = lambda: threads
rng = np.random.default_rng(0)

def filled(count):
    data = np.empty(count, np.float32)
    for start in range(0, count, 1 << 20):
        part = data[start : start + (1 << 20)]
        part[:] = rng.standard_normal(part.size, np.float32)
    return data

small = filled(3_000_000)
kernel.decompress(kernel.compress(small, 1e-3), small.shape, small.dtype)
del small
kernel.kept._kept.clear()
gc.collect()
data = filled(count)
before = max(resident(), peak())
stream = kernel.compress(data, 1e-3)
packed = peak()
decoded = kernel.decompress(stream, data.shape, data.dtype)
print(json.dumps({
    "compress": packed - before - stream.nbytes,
    "decompress": peak() - max(packed, before) - decoded.nbytes,
    "holds": bool(np.abs(data[::97] - decoded[::97]).max() <= 1e-3),
}))
"""
MIB = 1 << 20


@dataclass(frozen=True)
class Beyond:
    """Bytes of resident memory at the peak beyond input, stream and output."""

    compress: int
    decompress: int
    holds: bool


def measured(name: str, threads: int, count: int) -> Beyond:
    command = [sys.executable, "-c", PROGRAM, name, str(threads), str(count)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return Beyond(**json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["szp", "szx"])
def test_memory_beyond_the_arrays_does_not_grow_with_the_field(name: str, threads: int) -> None:
    beyond = measured(name, threads, 256 * MIB)

    assert beyond.holds
    assert beyond.compress <= 16 * MIB
    assert beyond.decompress <= 16 * MIB
