"""The tasks, by name: what an agent may be asked to write."""

from __future__ import annotations

from kernels.records import Arg
from kernels.tasks import bitpack, compact, histogram, huffman, lorenzo, quantize, sz_open, szp, szx
from kernels.tasks.base import CodecTask, StageCase, StageTask, StreamFormat, Task

_ALL: tuple[Task, ...] = (
    *lorenzo.TASKS,
    quantize.TASK,
    histogram.TASK,
    huffman.ENCODE,
    huffman.DECODE,
    bitpack.PACK,
    bitpack.UNPACK,
    compact.TASK,
    szp.TASK,
    szx.TASK,
    sz_open.TASK,
)
TASKS: dict[str, Task] = {task.name: task for task in _ALL}

__all__ = ["TASKS", "Arg", "CodecTask", "StageCase", "StageTask", "StreamFormat", "Task"]
