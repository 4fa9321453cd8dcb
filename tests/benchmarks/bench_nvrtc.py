"""What compiling CUDA C++ takes, per architecture and in all, with no GPU.

    python -m tests.benchmarks.bench_nvrtc [FILE …] [--archs sm_80 sm_90] [--rounds R]

Of a source with an error, a small one, one that is made here as large as a fused compressor's (six
kernels with unrolled bit planes), and those named; headers beside a file are sent with it.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from simulators.simt.records import Source
from simulators.simt.tool import plain_run
from toolchains.gpu_compile.nvrtc import compile_cuda

LARGE_S, ERROR_S = 1.5, 0.3
PLANES = 32
KERNELS = 6
HEAD = 'extern "C" __global__ void k{i}(const float *x, unsigned *out, int n, float r) {{\n'
LOAD = """    __shared__ unsigned total[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int q[8], last = 0;
    unsigned most = 0, signs = 0;
"""


def large() -> str:
    """About as many lines of device code as cuSZp's 1-D kernels have."""
    return "\n".join(HEAD.format(i=i) + LOAD + _body(i) + "}\n" for i in range(KERNELS))


def _body(kernel: int) -> str:
    lines = []
    for j in range(8):
        lines += [
            f"    if (at + {j} * n < 8 * n) {{",
            f"        int p = __float2int_rn(x[at + {j} * n] * r);",
            f"        q[{j}] = p - last; last = p;",
            f"        signs |= (unsigned)(q[{j}] < 0) << {j}; most |= abs(q[{j}]);",
            "    }",
        ]
    lines += [
        "    int rate = 32 - __clz(most);",
        "    for (int d = 1; d < 32; d <<= 1) {",
        "        int other = __shfl_up_sync(~0u, rate, d);",
        "        if (lane >= d) rate += other;",
        "    }",
        "    if (lane == 31) total[warp] = rate;",
        "    __syncthreads();",
        f"    unsigned *to = out + total[warp] + lane * {PLANES + kernel};",
        "    to[0] = signs;",
    ]
    for plane in range(PLANES):
        bits = " | ".join(f"((abs(q[{j}]) >> {plane} & 1u) << {j})" for j in range(8))
        lines += [
            f"    if (rate > {plane}) {{",
            f"        unsigned word = {bits};",
            f"        to[{plane} + 1] = word ^ (word >> {1 + kernel});",
            "    }",
        ]
    return "\n".join(lines) + "\n"


def sources(paths: Sequence[Path]) -> dict[str, Source]:
    """By name."""
    found = {
        "error": Source(HEAD.format(i=0) + "x[0] = foo; }", "kernel.cu"),
        "small": Source(HEAD.format(i=0) + "out[n] = 1; }", "kernel.cu"),
        "large": Source(large(), "kernel.cu"),
    }
    for path in paths:
        beside = (p for p in path.parent.iterdir() if p.suffix in (".h", ".cuh", ".hh"))
        headers = {p.name: p.read_text(encoding="utf-8") for p in beside}
        found[path.name] = Source(path.read_text(encoding="utf-8"), path.name, headers=headers)
    return found


def main() -> None:
    """Print the best of some rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--archs", nargs="+", default=["sm_80", "sm_90", "sm_120"])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for name, source in sources(asked.files).items():
        lines = source.code.count("\n")
        for archs in (*([arch] for arch in asked.archs), asked.archs):
            wall, cpu, said = min(_timed(source, archs) for _ in range(asked.rounds))
            sys.stdout.write(
                f"{name:28} {lines:5} lines {'+'.join(archs):20} {wall:6.2f} s wall "
                f"{cpu:6.2f} s CPU  {said}\n"
            )
    sys.stdout.write(f"targets: large {LARGE_S} s per architecture, error {ERROR_S} s\n")


def _timed(source: Source, archs: Sequence[str]) -> tuple[float, float, str]:
    start, used = time.perf_counter(), _used()
    build = compile_cuda(source, archs, plain_run)
    said = f"{len(build.modules)} compiled" if build.compiled else build.diagnostics[0].message
    return time.perf_counter() - start, _used() - used, said


def _used() -> float:
    """CPU seconds of this process and of those it waited for."""
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


if __name__ == "__main__":
    main()
