"""Compiled kernels in this process: load an object, keep a module's variables, launch it."""

from __future__ import annotations

import base64
import ctypes
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm

from .abi import ENTRY, SimtLaunch, SimtWorker
from .counting import CountedHooks, Counting
from .errors import error_of
from .memory import CheckedHooks, Memory, Registry

Dim = tuple[int, int, int]

_MOST_BLOCKS = 1 << 40
_ARGUMENT_ALIGN = 16
"""The largest that a type has."""


class LaunchError(Exception):
    """A launch that can't be made: wrong number or size of arguments, an impossible grid."""


@dataclass(frozen=True)
class Module:
    """The variables of a module, shared by its kernels."""

    addresses: Mapping[str, int]
    """By symbol."""
    sizes: Mapping[str, int]
    names: Mapping[str, str]
    """Name in the source → symbol."""
    memory: Sequence[Memory]

    def address(self, name: str) -> int:
        """Of a variable, by its name in the source or its symbol; KeyError."""
        return self.addresses[self.names.get(name, name)]

    def write(self, name: str, content: bytes) -> None:
        """Set a variable from its start on; ValueError: more than it has."""
        if len(content) > self.sizes[self.names.get(name, name)]:
            raise ValueError(f"{len(content)} bytes for {name}")
        ctypes.memmove(self.address(name), content, len(content))

    def read(self, name: str) -> bytes:
        """All of a variable."""
        return ctypes.string_at(self.address(name), self.sizes[self.names.get(name, name)])

    def table(self, symbols: Sequence[str]) -> ctypes.Array[ctypes.c_void_p]:
        """As SimtLaunch.globals."""
        return (ctypes.c_void_p * max(1, len(symbols)))(*(self.addresses[s] for s in symbols))


def make_module(variables: Sequence[Mapping[str, Any]]) -> Module:
    """Memory for a module's globals with their first content.

    variables: as in meta["globals"]; `init` may be bytes instead of base64.
    """
    memory = [Memory(max(1, one["size"])) for one in variables]
    for place, one in zip(memory, variables, strict=True):
        init = one["init"]
        content = base64.b64decode(init) if isinstance(init, str) else init
        ctypes.memmove(place.address, content, len(content))
    return Module(
        {v["symbol"]: place.address for v, place in zip(variables, memory, strict=True)},
        {v["symbol"]: v["size"] for v in variables},
        {v["name"]: v["symbol"] for v in variables},
        memory,
    )


@dataclass(frozen=True)
class Kernel:
    """A loaded kernel for one block shape."""

    meta: Mapping[str, Any]
    entry: Any
    """`simt_entry`; calling it releases the interpreter's lock."""
    engine: Any
    """Keeps the code."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each parameter."""
        return tuple(one["size"] for one in self.meta["params"])


def load(meta: Mapping[str, Any], code: bytes) -> Kernel:
    """An object as a kernel; RuntimeError: it can't be linked."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel="jitdefault")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(ENTRY)
    if not address:
        raise RuntimeError("the object has no entry")
    kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(SimtLaunch), ctypes.POINTER(SimtWorker))
    return Kernel(meta, kind(address), engine)


@dataclass
class Launcher:
    """Launches kernels; keeps the workers' memory from one launch to the next."""

    workers: int = 1
    deadline_s: float | None = None
    """After this a launch is stopped where its threads wait."""
    registry: Registry = field(default_factory=Registry)
    counting: Counting = field(default_factory=Counting)
    """Of variants that are `counted`."""
    _memory: list[dict[str, Memory]] = field(default_factory=list)

    def launch(
        self,
        kernel: Kernel,
        module: Module,
        grid: Dim,
        args: Sequence[bytes],
        dynamic_shared: int = 0,
    ) -> None:
        """Run a grid of blocks to its end. Raises SimtError, LaunchError.

        args: each argument's bytes.
        """
        _check(kernel, grid, args)
        meta = kernel.meta
        values = Memory(sum(map(_rounded, map(len, args))))
        pointers = (ctypes.c_void_p * max(1, len(args)))(*_placed(args, values))
        table = module.table([one["symbol"] for one in meta["globals"]])
        launch = SimtLaunch()
        launch.blocks = grid[0] * grid[1] * grid[2]
        launch.grid[:] = grid
        launch.block[:] = meta["block"]
        launch.dynamic_shared = dynamic_shared
        launch.params = ctypes.addressof(pointers)
        launch.globals = ctypes.addressof(table)
        count = max(1, min(self.workers, launch.blocks))
        hooks = self._hooks(meta, module, launch.blocks, count)
        launch.hooks = hooks.address if hooks is not None else None
        workers = [self._worker(index, meta, dynamic_shared) for index in range(count)]
        self._run(kernel, launch, workers)
        if launch.status:
            block = tuple(meta["block"])
            detail, file = list(launch.detail), meta.get("file", "")
            raise error_of(meta["kernel"], grid, block, launch.status, detail, file)
        if isinstance(hooks, CountedHooks):
            shared = meta["shared_bytes"] + dynamic_shared
            self.counting.take(meta, launch.blocks, shared, hooks)

    def _hooks(
        self, meta: Mapping[str, Any], module: Module, blocks: int, workers: int
    ) -> CheckedHooks | CountedHooks | None:
        if meta["hooks"] == "counted":
            return self.counting.hooks(self.registry.ranges(module.memory), blocks, workers)
        return self.registry.hooks(module.memory) if meta["hooks"] != "none" else None

    def _worker(self, index: int, meta: Mapping[str, Any], dynamic_shared: int) -> SimtWorker:
        while len(self._memory) <= index:
            self._memory.append({})
        x, y, z = meta["block"]
        shared = -(-meta["shared_bytes"] // 16) * 16 + dynamic_shared
        worker = SimtWorker()
        worker.index = index
        worker.shared = self._room(index, "shared", shared)
        worker.shared_bytes = shared
        worker.spill = self._room(index, "spill", meta["spill_bytes"])
        worker.spill_bytes = meta["spill_bytes"]
        worker.stacks = self._room(index, "stacks", meta["stack_bytes"] * x * y * z)
        worker.stack_bytes = meta["stack_bytes"] * x * y * z
        return worker

    def _room(self, index: int, what: str, size: int) -> int:
        """At least so much memory of a worker: its address."""
        kept = self._memory[index].get(what)
        if kept is None or kept.size < size:
            kept = self._memory[index][what] = Memory(max(64, size))
        return kept.address

    def _run(self, kernel: Kernel, launch: SimtLaunch, workers: Sequence[SimtWorker]) -> None:
        """All workers, the first in this thread."""
        threads = [
            threading.Thread(
                target=kernel.entry, args=(ctypes.byref(launch), ctypes.byref(worker)), daemon=True
            )
            for worker in workers[1:]
        ]
        dog = None
        if self.deadline_s is not None:
            dog = threading.Timer(self.deadline_s, _stop, (launch,))
            dog.daemon = True
            dog.start()
        for thread in threads:
            thread.start()
        try:
            kernel.entry(ctypes.byref(launch), ctypes.byref(workers[0]))
        finally:
            for thread in threads:
                thread.join()
            if dog is not None:
                dog.cancel()
                dog.join()


def _placed(args: Sequence[bytes], memory: Memory) -> Iterator[int]:
    """Copy arguments, each to a multiple of 16: their addresses."""
    at = memory.address
    for value in args:
        ctypes.memmove(at, value, len(value))
        yield at
        at += _rounded(len(value))


def _rounded(size: int) -> int:
    return -(-size // _ARGUMENT_ALIGN) * _ARGUMENT_ALIGN


def _stop(launch: SimtLaunch) -> None:
    launch.stop = 1


def _check(kernel: Kernel, grid: Dim, args: Sequence[bytes]) -> None:
    meta = kernel.meta
    if len(args) != len(meta["params"]):
        raise LaunchError(f"{meta['kernel']} has {len(meta['params'])} parameters, not {len(args)}")
    for index, (value, size) in enumerate(zip(args, kernel.sizes, strict=True)):
        if len(value) != size:
            name = meta["params"][index]["name"]
            raise LaunchError(f"argument {name} has {len(value)} bytes, not {size}")
    if min(grid) < 1 or grid[0] * grid[1] * grid[2] > _MOST_BLOCKS:
        raise LaunchError(f"a grid of {grid[0]} x {grid[1]} x {grid[2]} blocks")
