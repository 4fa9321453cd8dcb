"""GPU source on the CPU: unmodified CUDA C++ and HIP kernels, compiled for this processor.

Two engines behind one launch interface: `loops` splits a kernel at its barriers and warp operations
and loops each part over threads; `fibers` gives every thread a stack of its own.
"""
