"""The reductions of NVIDIA/cuda-samples: ten kernels, each for several types and blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.public.checkouts import ORDERS, File, Program, check_engines, on_device
from tests.simulators.simt.launching import needs_clang

pytestmark = [pytest.mark.slow, needs_clang]
TYPES = {"int": np.int32, "float": np.float32, "double": np.float64}
SIZES = {"true": 1 << 14, "false": 10_007}
"""Whether a kernel may take it that the number of elements is a power of two."""


def kernels(kind: str) -> dict[str, int]:
    """Name → threads of a block, which some of the kernels have as an argument.

    reduce7 of floating-point numbers is left to blocks of 32 warps: with fewer, its last shuffles
    read from lanes outside of their mask, whose values CUDA leaves undefined.
    """
    found = {f"reduce{n}<{kind}>": 256 for n in range(4)} | {f"cg_reduce<{kind}>": 256}
    for block in (64, 512):
        found |= {f"reduce{n}<{kind}, {block}U>": block for n in (4, 5)}
        masked = (6, 7) if kind == "int" else (6,)
        found |= {f"reduce{n}<{kind}, {block}U, {p}>": block for n in masked for p in SIZES}
        found[f"multi_warp_cg_reduce<{kind}, {block}UL, {block // 2}UL>"] = block
    return found | {f"reduce7<{kind}, 1024U, true>": 1024}


FILE = File(
    "NVIDIA/cuda-samples",
    "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu",
    ("Common",),
    tuple((n, (block, 1, 1)) for kind in TYPES for n, block in kernels(kind).items()),
)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", TYPES)
def test_all_reductions_have_the_same_sum(kind: str, order: str) -> None:
    program = Program(FILE, ORDERS[order])
    # Whole numbers, so that the order of additions does not show.
    numbers = np.random.default_rng(3).integers(-1000, 1000, max(SIZES.values()))
    for name, block in kernels(kind).items():
        size = SIZES["true" if "true" in name else "false"]
        data = on_device(numbers[:size].astype(TYPES[kind]))
        each = block * (1 if name[:7] in ("reduce0", "reduce1", "reduce2") else 2)
        blocks = -(-size // each)
        if name[:7] not in {f"reduce{n}" for n in range(6)}:
            blocks = min(blocks, 8)
        out = on_device(np.full(blocks, 77, TYPES[kind]))
        room = block * data.dtype.itemsize
        program.run(name, blocks, data, out, np.uint32(size), shared=room)
        assert out.sum() == numbers[:size].sum(), name


def test_all_reductions_are_looped() -> None:
    check_engines([FILE], {})
