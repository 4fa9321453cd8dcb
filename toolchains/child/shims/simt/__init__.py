"""Compiled kernels of the SIMT emulator in this process: load, launch, errors."""
