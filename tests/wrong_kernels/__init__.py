"""Kernels that keep their bound, and what can be made wrong in each."""
