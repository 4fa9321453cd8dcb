"""Machines that are not here, run on the CPU: GPUs (`simt`)."""
