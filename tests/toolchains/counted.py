"""Submissions for GPUs in this process, with every block's accesses counted."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernels.records import Submission
from kernels.tasks import TASKS, StageTask
from simulators.simt.build import answer
from simulators.simt.exchange import pack_answer, unpack_request
from simulators.simt.tool import plain_run
from toolchains import child
from toolchains.child import shims
from toolchains.child.shims import cupy
from toolchains.child.shims.cupy._engine import PROCESS, Asking
from toolchains.child.shims.simt.counting import Counting, Sampling
from toolchains.child.shims.simt.runtime import Launcher

CHILD = Path(str(child.__file__)).parent
"""Where `szstream` is."""
ALL = Sampling(one_in=1, least=1 << 20, most=1 << 20)


def counted(
    submission: Submission, calls: Sequence[tuple[str, tuple[object, ...]]], warp: int = 32
) -> list[dict[str, Any]]:
    """What is told of every kernel that these calls of functions launch.

    A codec's decompress that gets no stream gets the one of the call before.
    """
    launcher = Launcher(counting=Counting(ALL))
    before = set(sys.modules)
    shims.install("cupy")
    PROCESS.engine = Asking(_compiled, launcher=launcher, hooks="counted")
    PROCESS.dialect = "hip" if submission.target.startswith("rocm") else "cuda"
    PROCESS.warp = warp
    try:
        with tempfile.TemporaryDirectory() as folder:
            module = _imported(submission, Path(folder))
            result: Any = None
            for function, arguments in calls:
                given = (result, *arguments[1:]) if arguments[0] is None else arguments
                result = _called(getattr(module, function), given)
                if result is None:
                    break
    finally:
        PROCESS.engine, PROCESS.dialect, PROCESS.warp = None, "cuda", 32
        PROCESS.modules.clear()
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "cupy":
                del sys.modules[name]
    return [json.loads(line) for line in launcher.counting.lines()]


def calls_of(task: str) -> list[tuple[str, tuple[object, ...]]]:
    """Of a task's functions, on a small smooth field with some noise, and a few values missing."""
    rng = np.random.default_rng(5)
    shape = {"1d": (20_000,), "2d": (120, 150), "3d": (24, 30, 28)}
    walk = np.cumsum(rng.normal(size=20_000)).astype(np.float32)
    one = TASKS[task]
    if isinstance(one, StageTask):
        parts = [part for part in task.split("-") if part in shape]
        data = np.resize(walk, shape[parts[0] if parts else "1d"])
        return [("run", one.inputs(data, 0.05))]
    return [
        ("compress", (walk, 0.05)),
        ("decompress", (None, walk.shape, walk.dtype)),
    ]


def _called(function: Any, arguments: Sequence[object]) -> Any:
    """None where it raises: what a race leaves may be refused."""
    try:
        return function(*map(_on_device, arguments))
    except ValueError:
        return None


def _on_device(value: object) -> object:
    return cupy.asarray(value.copy()) if isinstance(value, np.ndarray) else value


def _imported(submission: Submission, folder: Path) -> Any:
    for name, text in submission.files.items():
        (folder / name).write_text(text)
    spec = importlib.util.spec_from_file_location("counted_kernel", folder / "kernel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path[:0] = [str(folder), str(CHILD)]
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.path[:2]
    return module


def _compiled(asked: bytes) -> bytes:
    return pack_answer(answer(unpack_request(asked), plain_run))
