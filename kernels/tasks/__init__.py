"""The tasks, by name: what an agent may be asked to write."""

from __future__ import annotations

from kernels.records import Arg
from kernels.tasks import lorenzo_1d, sz_open, szp
from kernels.tasks.base import CodecTask, StageCase, StageTask, StreamFormat, Task

TASKS: dict[str, Task] = {
    task.name: task for task in (lorenzo_1d.FORWARD, lorenzo_1d.INVERSE, szp.TASK, sz_open.TASK)
}

__all__ = ["TASKS", "Arg", "CodecTask", "StageCase", "StageTask", "StreamFormat", "Task"]
