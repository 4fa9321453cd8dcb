# ruff: noqa: T201 - it prints its report
"""Cycles per block of the wafer's szp references, and what they project to.

`python -m tests.benchmarks.bench_wafer_szp [FIELD...]` prints rows of docs/benchmarks.md:
compression and decompression on wse2 of fields at several bounds, the bound checked on each.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from kernels import baselines, fields
from kernels.bounds import derive
from kernels.records import Array, Failure
from kernels.streams import szp
from sz_mcp.projection import device_metrics
from toolchains.base import Cancellation, Reply, Session
from toolchains.children.pool import Pool
from toolchains.wafer import WaferToolchain

FIELDS = ("synthetic:turbulent:32x64x128:seed=5", "synthetic:smooth:32x64x128:seed=5")
BOUNDS = (1e-2, 1e-3, 1e-4)
BLOCK, ROUND = 32, 4096 * 64
"""Values of a block; of what one launch of 64 rows of PEs takes."""
CERESZ_GBPS = 773.8
_CAPACITY = 1 << 24


def main(names: list[str]) -> int:
    """Print the rows; 1 if a bound was broken or a projection is not beyond CereSZ."""
    pool = Pool(2, 8 << 30)
    toolchain = WaferToolchain(pool)
    submission = replace(baselines.read("szp", "tuned", "wafer"), target="wafer:wse2")
    wrong = 0
    print(
        "| field | rel | ratio | function | PEs | cycles per block and row | GB/s at 512² | wafer |"
    )
    print("|---|---|---|---|---|---|---|---|")
    try:
        session = toolchain.load(submission, 1, Cancellation())
        if isinstance(session, Failure):
            print(session.message)
            return 1
        for name in names or list(FIELDS):
            for bound in BOUNDS:
                wrong += _row(session, name, bound)
        session.close()
    finally:
        toolchain.close()
        pool.close()
    print("\nBetween host and wafer: 150 GB/s (documented), which cycles leave out.")
    return int(wrong > 0)


def _row(session: Session, name: str, bound: float) -> int:
    field = fields.Catalogue().load(name)
    data = field.data.reshape(-1)[:ROUND].copy()
    absolute = derive(data, None, "rel", bound).absolute
    stream = _called(session, "compress", data, absolute)
    back = _called(session, "decompress", stream, data.shape, data.dtype)
    golden = szp.decode(stream, data.shape, data.dtype)
    held = np.abs(data.astype(np.float64) - golden.astype(np.float64)).max() <= absolute
    wrong = int(not held or back.tobytes() != golden.tobytes())
    for function in ("compress", "decompress"):
        known = {m.name: m.value for m in device_metrics(session, [function], data.nbytes)}
        columns, rows = known[f"{function}_columns"], known[f"{function}_rows"]
        cycles = known[f"{function}_device_cycles"] / (data.size / BLOCK / rows)
        square, wafer = known[f"{function}_projected_gbps"], known[f"{function}_wafer_gbps"]
        wrong += square <= CERESZ_GBPS
        print(
            f"| {name} | {bound:g} | {data.nbytes / stream.size:.2f} | {function} "
            f"| {columns:.0f} × {rows:.0f} | {cycles:.0f} | {square:.0f} | {wafer:.0f} |",
            flush=True,
        )
    return wrong


def _called(session: Session, function: str, *arguments: object) -> Array:
    reply = session.call(
        function,
        [arguments],  # type: ignore[list-item]
        capacity=[_CAPACITY],
        deadline_s=600.0,
    )
    if not isinstance(reply, Reply):
        raise TypeError(f"{function}: {reply.message}")
    return reply.outputs[0][0].copy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
