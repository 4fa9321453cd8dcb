"""The engine `fibers`: every thread on a stack of its own. Fallback and oracle of `loops`."""

from .compiling import compile_kernel

__all__ = ["compile_kernel"]
