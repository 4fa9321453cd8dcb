"""Kernels that others have published, run unmodified by the emulator."""
