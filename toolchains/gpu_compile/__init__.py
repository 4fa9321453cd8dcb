"""Real compilers for GPUs, with no GPU and no driver: what they make of a kernel and say of it."""
