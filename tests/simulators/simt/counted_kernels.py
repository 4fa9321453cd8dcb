"""Launches with every block counted, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from simulators.simt.fibers import compile_kernel
from simulators.simt.records import Bundle, Source, Variant
from simulators.simt.tool import plain_run
from tests.simulators.simt.launching import fronted, loaded, raw, symbol
from toolchains.child.shims.simt.counting import Counting, Sampling
from toolchains.child.shims.simt.memory import Memory
from toolchains.child.shims.simt.runtime import Launcher

ALL = Sampling(one_in=1, most=1 << 20)


@dataclass(frozen=True)
class Counted:
    """What was told of a kernel."""

    told: dict[str, Any]

    def total(self, column: str, kind: str, *, shared: bool) -> int:
        """Of all sites of a kind."""
        at = 5 + self.told["columns"].index(column)
        return sum(s[at] for s in self.told["sites"] if s[2] == kind and s[4] is shared)

    def mean(self, over: str, under: str, kind: str, *, shared: bool) -> float:
        """The ratio of two columns."""
        return self.total(over, kind, shared=shared) / self.total(under, kind, shared=shared)

    @property
    def races(self) -> set[tuple[int, int]]:
        """Lines that meet, the smaller first."""
        return {(min(r[1], r[4]), max(r[1], r[4])) for r in self.told["races"]}


@cache
def bundle(code: str, block: tuple[int, int, int], warp: int, dialect: str) -> Bundle:
    """The only kernel of a module, with counters."""
    made = fronted(code, warp, dialect)
    source = Source(code, "kernel.cu", dialect, warp)
    done = compile_kernel(
        source, made.info, Variant(symbol(made, ""), block, hooks="counted"), plain_run
    )
    assert isinstance(done, Bundle), done
    return done


def count(
    code: str,
    *,
    words: int = 1 << 16,
    block: tuple[int, int, int] = (128, 1, 1),
    grid: int = 2,
    warp: int = 32,
    dialect: str = "cuda",
    shared: int = 0,
    sampling: Sampling = ALL,
    more: Sequence[Any] = (),
) -> Counted:
    """Launch a kernel whose first parameter is an array of words, with counters."""
    kernel, module = loaded(bundle(code, block, warp, dialect))
    launcher = Launcher(deadline_s=30.0, counting=Counting(sampling))
    memory = Memory(4 * words)
    launcher.registry.register(memory.address, memory.size)
    given = [np.uint64(memory.address), *more]
    launcher.launch(kernel, module, (grid, 1, 1), [raw(a) for a in given], shared)
    (line,) = launcher.counting.lines()
    return Counted(json.loads(line))
