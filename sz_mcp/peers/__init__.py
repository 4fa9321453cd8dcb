"""Compressors side by side: ours, and those of others as black boxes, each in a process of its own.

`codecs` is the table of them; `workers` starts their processes, in which `worker` runs; `measure`
makes rows out of an array and a bound.
"""
