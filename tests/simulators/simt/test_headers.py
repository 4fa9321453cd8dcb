from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from simulators.simt.fibers import compile_kernel as by_fibers
from simulators.simt.loops import compile_kernel as by_loops
from simulators.simt.records import Bundle, Source, Variant
from simulators.simt.tool import plain_run
from tests.simulators.simt.header_cases import SPELLED, WORDS, Array, Case, cases, inputs
from tests.simulators.simt.launching import fronted, launch, needs_clang, symbol

pytestmark = needs_clang
INCLUDED = {"cuda": "#include <cuda_fp16.h>\n", "hip": "#include <hip/hip_fp16.h>\n"}


def kernel_of(letter: str, listed: list[Case], dialect: str) -> str:
    """A kernel that stores the 64 bits of every case, one block of values after the other."""
    kind = SPELLED[letter]
    lines = [
        INCLUDED[dialect], f"typedef {kind} T;",
        "template <class R> __device__ unsigned long long bits(R r) {",
        "  unsigned long long b = 0; memcpy(&b, &r, sizeof r); return b; }",
        'extern "C" __global__ void k(const T *p, const T *q, const T *r,',
        "                             unsigned long long *out) {",
        "int i = threadIdx.x; T x = p[i], y = q[i], z = r[i];",
    ]  # fmt: skip
    for number, case in enumerate(listed):
        gives = SPELLED[case.gives]
        lines.append(f"out[{number} * blockDim.x + i] = bits<{gives}>({case.text});")
    return "\n".join((*lines, "}"))


@cache
def answers(letter: str, dialect: str, engine: str) -> Array:
    """Bits of each case for each input."""
    listed = [case for case in cases() if case.given == letter]
    code = kernel_of(letter, listed, dialect)
    made = fronted(code, 32, dialect)
    variant = Variant(symbol(made, "k"), (192, 1, 1))
    source = Source(code, "kernel.cu", dialect, 32)
    bundle = (
        by_loops(made, variant)
        if engine == "loops"
        else by_fibers(source, made.info, variant, plain_run)
    )
    assert isinstance(bundle, Bundle), bundle
    out = np.zeros((len(listed), 192), np.uint64)
    launch(bundle, (1, 1, 1), (*inputs(letter), out))
    return out


@pytest.mark.parametrize("letter", ["u", "s", "U", "S", "f", "d"])
def test_functions_give_what_numpy_and_exact_fractions_say(letter: str) -> None:
    listed = [case for case in cases() if case.given == letter]
    for case, got in zip(listed, answers(letter, "cuda", "fibers"), strict=True):
        compare(case, got, inputs(letter))


@pytest.mark.parametrize("letter", ["f", "s"])
def test_hip_has_the_same_functions(letter: str) -> None:
    np.testing.assert_array_equal(
        answers(letter, "hip", "fibers"), answers(letter, "cuda", "fibers")
    )


@pytest.mark.parametrize("letter", ["u", "f", "d"])
def test_both_engines_give_the_same_bytes(letter: str) -> None:
    np.testing.assert_array_equal(
        answers(letter, "cuda", "loops"), answers(letter, "cuda", "fibers")
    )


def compare(case: Case, got: Array, given: tuple[Array, Array, Array]) -> None:
    kind: Any = WORDS[case.gives]
    size = np.dtype(kind).itemsize * 8
    values = got.astype(f"u{size // 8}").view(kind)
    with np.errstate(all="ignore"):
        for x, y, z, value in zip(*given, values, strict=True):
            wanted = case.value(x, y, z)
            if wanted is None:
                continue
            if np.issubdtype(kind, np.floating):
                same = np.isnan(value) if np.isnan(wanted) else value == kind(wanted)
            else:
                same = int(value) % (1 << size) == int(wanted) % (1 << size)
            assert same, f"{case.text} of {x!r}, {y!r}, {z!r} gives {value!r}, not {wanted!r}"
