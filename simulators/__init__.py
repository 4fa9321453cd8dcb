"""Machines that are not here: the wafer and GPUs, run on the CPU. Empty until their issues land."""
