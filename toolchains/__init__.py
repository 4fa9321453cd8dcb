"""Compile and run submissions in isolated processes, one backend per family of targets.

A backend is one module with a function `backend(parts)`, which makes a `base.Toolchain`, and one
line here.
"""

BACKENDS: dict[str, str] = {
    "numba": "toolchains.numba_cpu",
    "cuda": "toolchains.cuda",
    "rocm": "toolchains.rocm",
    "wafer": "toolchains.wafer",
}
