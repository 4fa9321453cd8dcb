"""The program inside a child process: it imports numpy, numba and itself, nothing else of ours."""
