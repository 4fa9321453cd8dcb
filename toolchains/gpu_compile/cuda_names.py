"""Names that CUDA has, by the headers at hand: what they need, and the nearest to one that is not.

The headers' declarations are read once; a name is builtin, or of a header to include, or of a later
architecture.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .cuda_wheels import find_nvrtc

_DECLARED = re.compile(r"(?:__device__|_DECL__|__device_builtin__)[^;{}()]*?\b(\w+)\s*\(")
_DEPRECATED = "__DEPRECATED__"
_INTERNAL = re.compile(
    r"DEPRECATED|^__attribute__$|^__cuda|^__w?mma|^__(shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)$"
)
"""Also votes and shuffles without a mask, which architectures from sm_70 on refuse."""
_ARCH_HEADER = re.compile(r"sm_(\d\d+)_rt\.h$")
_TO_INCLUDE = (
    "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp4.h", "cuda_pipeline_primitives.h",
)  # fmt: skip
_SHOWN = {"cuda_pipeline_primitives.h": "cuda_pipeline.h"}
"""Headers that are included by another."""
_BUILT_IN = (
    "common_functions.h", "crt/device_functions.h", "crt/math_functions.h",
    "crt/device_double_functions.h", "device_atomic_functions.h", "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_atomic_functions.h", "sm_32_intrinsics.h",
    "sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h", "vector_functions.h",
    "crt/sm_70_rt.h", "crt/sm_80_rt.h", "crt/sm_90_rt.h", "crt/sm_100_rt.h",
)  # fmt: skip
_FIRST_ARCH = 75
"""The oldest that NVRTC compiles for."""
_SHORTEST, _CUTOFF = 4, 0.75
"""Names that are compared, in characters, and how alike they must be."""
_LANGUAGE = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__global__", "__device__",
    "__shared__", "__constant__", "__host__", "__restrict__", "__forceinline__", "__noinline__",
    "__launch_bounds__", "__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block",
    "printf", "assert", "memcpy", "memset", "float2", "float4", "int2", "int4", "uint2", "uint3",
    "uint4", "uchar4", "ushort4", "double2", "dim3",
)  # fmt: skip
"""What no header declares as a function."""
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("half", "half2", "__half", "__half2", "__half_raw"), "cuda_fp16.h"),
    **dict.fromkeys(("__nv_bfloat16", "__nv_bfloat162", "nv_bfloat16"), "cuda_bf16.h"),
    **{f"{u}int{bits}_t": "cstdint" for u in ("", "u") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("uintptr_t", "intptr_t", "INT32_MAX", "UINT32_MAX", "INT32_MIN"), "cstdint"),
    **dict.fromkeys(("UINT64_MAX", "INT64_MAX", "UINT8_MAX", "UINT16_MAX", "INT64_MIN"), "cstdint"),
    **dict.fromkeys(("INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "ULLONG_MAX"), "climits"),
    **dict.fromkeys(("CHAR_BIT", "SHRT_MAX", "USHRT_MAX", "UCHAR_MAX", "LONG_MAX"), "climits"),
    **dict.fromkeys(("FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_EPSILON"), "cfloat"),
    **dict.fromkeys(("INFINITY", "NAN", "M_PI", "HUGE_VAL"), "cmath"),
    **dict.fromkeys(("CUDART_INF_F", "CUDART_NAN_F", "CUDART_PI_F"), "math_constants.h"),
    "cooperative_groups": "cooperative_groups.h",
    "cg": "cooperative_groups.h",
    "wmma": "mma.h",
    "offsetof": "cstddef",
    "ptrdiff_t": "cstddef",
}  # fmt: skip


@dataclass(frozen=True)
class CudaName:
    """Something that device code may use."""

    name: str
    header: str = ""
    """To include; empty: none."""
    arch: int = 0
    """Of the first architecture that has it, as 80 for sm_80; 0: all."""


@cache
def cuda_names() -> Mapping[str, CudaName]:
    """All that the installed headers declare; the language's own without them."""
    nvrtc = find_nvrtc()
    folders = nvrtc.includes if nvrtc else ()
    found = {name: CudaName(name) for name in _LANGUAGE}
    for header in (*_BUILT_IN, *_TO_INCLUDE):
        include = _SHOWN.get(header, header) if header in _TO_INCLUDE else ""
        later = _ARCH_HEADER.search(header)
        arch = int(later[1]) if later and int(later[1]) > _FIRST_ARCH else 0
        for name in _declared(folders, header):
            found.setdefault(name, CudaName(name, include, arch))
    return {**found, **{name: CudaName(name, header) for name, header in _TYPES.items()}}


def nearest_cuda_name(name: str) -> CudaName | None:
    """The nearest to one that does not exist, but for letters' case and underscores around it."""
    if len(name) < _SHORTEST:
        return None
    known = cuda_names()
    for plain in (str.lower, _bare):
        folded = {plain(one): one for one in known}
        wanted = plain(name)
        close = difflib.get_close_matches(wanted, folded, 3, _CUTOFF)
        if close:
            return known[folded[max(close, key=lambda one: _alike(wanted, one))]]
    return None


def _bare(name: str) -> str:
    return name.lower().strip("_")


def _alike(wanted: str, name: str) -> tuple[float, int]:
    """How near two names are; of equally near ones that which begins alike is nearer."""
    ratio = difflib.SequenceMatcher(None, name, wanted).ratio()
    pairs = zip(wanted, name, strict=False)
    return round(ratio, 3), sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], pairs))


def _declared(folders: tuple[Path, ...], header: str) -> set[str]:
    path = next((f / header for f in folders if (f / header).is_file()), None)
    if path is None:
        return set()
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    names = {
        match[1] for line in lines if _DEPRECATED not in line for match in _DECLARED.finditer(line)
    }
    return {name for name in names if not _INTERNAL.search(name)}
