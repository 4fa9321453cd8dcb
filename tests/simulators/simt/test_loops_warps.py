from __future__ import annotations

import numpy as np
import pytest

from tests.simulators.simt.launching import fronted, launch, looped, needs_clang
from tests.simulators.simt.warp_kernels import CODE, NAMES, expected

pytestmark = needs_clang
BLOCK, BLOCKS = 128, 5


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_gives_what_numpy_says_in_either_order_and_with_two_workers(name: str) -> None:
    x = np.random.default_rng(1).integers(0, 40, BLOCK * BLOCKS).astype(np.int32)
    wanted = expected(name, x, BLOCK)
    for descending in (False, True):
        bundle = looped(fronted(CODE), name, (BLOCK, 1, 1), descending=descending)
        for workers in (1, 2):
            out = np.zeros_like(x)
            arguments = (x, out, np.int32(x.size))
            launch(bundle, (BLOCKS, 1, 1), arguments, workers=workers, shared=4 * BLOCK)
            np.testing.assert_array_equal(out, wanted)
