"""The child's main loop: imports and a warm-up, then requests until the socket closes.

A request comes in two steps. PREPARE maps the inputs and builds the arguments; GO calls the kernel
once per item and holds what it returned for the server to read, or copies it into the output arena.
Between the two the child sleeps, and only then does the server write the content, so nothing can be
computed before the clock starts.
"""

from __future__ import annotations

import array
import ctypes
import faulthandler
import gc
import importlib
import mmap
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import cast

import numba
import numpy as np
from numba.core import config
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaSystemWarning

from . import device, explain, landlock, wire
from .faults import ContractError, OverlapError, fault_of
from .output import redirect
from .phases import PhaseClock
from .seccomp import refuse

_MADV_POPULATE_READ = 22
_MADV_POPULATE_WRITE = 23
"""Linux ≥ 5.14, include/uapi/asm-generic/mman-common.h; not named by Python 3.11's mmap."""

_MAX_OUTPUTS = 16
Kernel = Callable[..., object]
Rules = Sequence[tuple[int, Sequence[str]]]
"""As `landlock.restrict` takes them."""


def main(fd: int, scratch: str, *, filtered: bool, devices: bool, loaded: Rules) -> None:
    """Serve requests on socket `fd` until the server closes it.

    filtered: whether to refuse system calls; devices: but for those that drive devices; loaded:
    what Landlock is to hold from when the sources are written, nothing if it is no less.
    """
    redirect()
    # numba shares a lock among processes by /dev/shm, which is not here; nor are other processes.
    warnings.filterwarnings("ignore", "Could not obtain multiprocessing", NumbaSystemWarning)
    # A crash, and the server before it kills a kernel that is late, leave a stack in the output.
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2, all_threads=False)
    channel = socket.socket(fileno=fd)
    _warm_up()
    if filtered:
        refuse(devices=devices)
    Child(channel, Path(scratch), loaded).serve()


@numba.njit
def _nothing(values):  # type: ignore[no-untyped-def]
    total = values[0]
    for i in range(values.size):
        total += values[i]
    return total


def _nothing_kept(_function: object) -> None:
    """In place of a cache."""


def _warm_up() -> None:
    # The first compilation of a process starts LLVM: about 0.3 s that the kernel should not pay.
    _nothing(np.ones(8, np.float32))
    # A process is for one submission, so that a cache on disk serves nobody and costs writing it.
    Dispatcher.enable_caching = _nothing_kept  # type: ignore[assignment,method-assign]


class Child:
    """State of one child: the loaded kernel, the two arenas and the prepared request."""

    def __init__(self, channel: socket.socket, scratch: Path, loaded: Rules = ()) -> None:
        self._channel, self._loaded = channel, loaded
        self._sources = scratch / "src"
        self._kernel: ModuleType | None = None
        self._inputs: mmap.mmap | None = None
        self._outputs: mmap.mmap | None = None
        self._held: list[np.ndarray] = []
        self._probe = np.frombuffer(wire.PROBE, np.uint8).copy()
        self._seq = 0
        self._explains = False
        self._device: device.Device | None = None
        self._told: set[str] = set()

    def serve(self) -> None:
        """Answer until end of file."""
        self._channel.send(wire.HEAD.pack(0, wire.Kind.READY, 0))
        handlers: dict[int, Callable[[bytes, list[int]], None]] = {
            wire.Op.LOAD: self._load,
            wire.Op.ARENAS: self._map,
            wire.Op.PREPARE: self._call,
        }
        while message := self._receive():
            self._seq, op, _ = wire.HEAD.unpack_from(message[0])
            handlers[op](*message)

    def _receive(self) -> tuple[bytes, list[int]] | None:
        fds = array.array("i")
        message, ancillary, _, _ = self._channel.recvmsg(1 << 16, socket.CMSG_SPACE(2 * 4))
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        return (message, list(fds)) if message else None

    def _load(self, message: bytes, fds: list[int]) -> None:
        _, _, asked = wire.HEAD.unpack_from(message)
        self._explains = bool(asked & wire.EXPLAINS)
        if self._explains:
            explain.begin()
        if asked & wire.CHECKS:
            config.BOUNDSCHECK = 1  # type: ignore[attr-defined]
        self._device = device.device(asked, self._need)
        with os.fdopen(fds[0], "rb") as blob:
            files = wire.unpack_sources(blob.read())
        self._sources.mkdir()
        for name, text in files.items():
            (self._sources / name).write_bytes(text)
        if self._loaded:
            landlock.restrict(self._loaded)
        try:
            for name in files:
                if name.endswith(".py"):
                    # As text: of bytes, a syntax error's column counts bytes.
                    source = files[name].decode("utf-8", "surrogateescape")
                    compile(source, str(self._sources / name), "exec", dont_inherit=True)
            sys.path.insert(0, str(self._sources))
            self._kernel = importlib.import_module("kernel")
        except BaseException as error:  # noqa: BLE001
            self._fault(error, item=-1, importing=True)
            return
        gc.collect()
        gc.freeze()
        head = wire.HEAD.pack(self._seq, wire.Kind.LOADED, 0)
        self._channel.send(head + wire.LOADED.pack(self._probe.ctypes.data))

    def _map(self, message: bytes, fds: list[int]) -> None:
        in_bytes, out_bytes = wire.ARENA.unpack_from(message, wire.HEAD.size)
        # A private mapping: the kernel may scribble on its input, the server's copy stays.
        self._inputs = mmap.mmap(fds[0], in_bytes, flags=mmap.MAP_PRIVATE)
        _forbid_last_page(self._inputs)
        self._outputs = mmap.mmap(fds[1], out_bytes, flags=mmap.MAP_SHARED)
        for fd in fds:
            os.close(fd)
        _advise(self._outputs, _MADV_POPULATE_WRITE, out_bytes)
        self._channel.send(wire.HEAD.pack(self._seq, wire.Kind.MAPPED, 0))

    def _call(self, message: bytes, _fds: list[int]) -> None:
        calls = wire.unpack_prepare(message)
        self._held.clear()
        if self._explains and calls.function not in self._told:
            explain.trim()
        self._renew_inputs(calls)
        arguments = [tuple(self._argument(v) for v in item.values) for item in calls.items]
        self._channel.send(wire.HEAD.pack(self._seq, wire.Kind.PREPARED, 0))
        go = self._receive()
        if go is None:
            return
        self._seq, _, _ = wire.HEAD.unpack_from(go[0])
        self._run(calls, arguments)

    def _renew_inputs(self, calls: wire.Calls) -> None:
        """Forget what the kernel wrote over its inputs; map what the server will write there."""
        placed = [v for item in calls.items for v in item.values if isinstance(v, wire.Placed)]
        used = max((v.offset + v.nbytes for v in placed), default=0)
        if self._inputs is None or not used:
            return
        for advice in (mmap.MADV_DONTNEED, _MADV_POPULATE_READ):
            _advise(self._inputs, advice, used)

    def _argument(self, value: wire.Value) -> object:
        if isinstance(value, wire.Placed):
            return np.ndarray(value.shape, value.dtype, self._inputs, value.offset)
        return value

    def _run(self, calls: wire.Calls, arguments: list[tuple[object, ...]]) -> None:
        outputs: list[list[wire.Placed]] = []
        nanoseconds = 0
        store = self._hold if calls.held else self._copy_out
        phases = PhaseClock(self._modules(), self._sources) if calls.profiled else None
        try:
            for item, values in zip(calls.items, arguments, strict=True):
                result, took = self._called(calls, values)
                nanoseconds += took
                outputs.append(store(_checked_all(calls.function, result, item), item))
                del result
        except BaseException as error:  # noqa: BLE001
            self._fault(error, item=len(outputs), importing=False)
            return
        finally:
            times = phases.stop() if phases else []
        if self._explains and calls.profiled and calls.function not in self._told:
            self._told.add(calls.function)
            explain.tell_code(self._modules())
        self._channel.send(wire.pack_done(self._seq, nanoseconds, outputs, times))

    def _called(self, calls: wire.Calls, values: tuple[object, ...]) -> tuple[object, int]:
        """What the kernel's function returned, and the nanoseconds that it took."""
        function, device_ = self._function(calls.function), self._device
        if device_ is not None:
            values = device_.given(values, descending=calls.descending)
        start = time.perf_counter_ns()
        result = function(*values)
        took = time.perf_counter_ns() - start
        return device_.taken(calls.function, result) if device_ is not None else result, took

    def _need(self, asked: bytes) -> bytes:
        """What the server makes of a request in the middle of another."""
        for message in wire.pack_needs(self._seq, asked):
            self._channel.send(message)
        given = self._receive()
        if given is None:
            raise SystemExit
        with os.fdopen(given[1][0], "rb") as file:
            return file.read()

    def _modules(self) -> list[ModuleType]:
        root = str(self._sources)
        return [
            m
            for m in list(sys.modules.values())
            if (getattr(m, "__file__", None) or "").startswith(root)
        ]

    def _function(self, name: str) -> Kernel:
        function = getattr(self._kernel, name, None)
        if not callable(function):
            raise ContractError(f"kernel.py defines no function `{name}`; this task needs one")
        return cast(Kernel, function)

    def _copy_out(self, results: list[np.ndarray], item: wire.Item) -> list[wire.Placed]:
        """Copy results into the output arena."""
        at = item.out_offset
        placed = []
        for result in results:
            np.copyto(np.ndarray(result.shape, result.dtype, self._outputs, at), result)
            placed.append(wire.Placed(result.dtype.name, result.shape, at))
            at = wire.align(at + result.nbytes)
        return placed

    def _hold(self, results: list[np.ndarray], _item: wire.Item) -> list[wire.Placed]:
        """Keep results alive where they are until the next request."""
        placed = []
        for given in results:
            result = np.asarray(given, order="C")
            if any(_overlap(result, other) for other in self._held):
                raise OverlapError("a result lies in memory of an earlier one")
            self._held.append(result)
            placed.append(wire.Placed(result.dtype.name, result.shape, result.ctypes.data))
        return placed

    def _fault(self, error: BaseException, item: int, *, importing: bool) -> None:
        fault = fault_of(error, item, self._sources, importing=importing)
        self._channel.send(wire.pack_fault(self._seq, fault))


def _checked_all(name: str, result: object, item: wire.Item) -> list[np.ndarray]:
    """The arrays that a call returned; ContractError if they are not what can be returned."""
    results = result if isinstance(result, tuple) else (result,)
    if len(results) > _MAX_OUTPUTS:
        raise ContractError(
            f"{name} returned {len(results)} arrays; at most {_MAX_OUTPUTS} can be returned"
        )
    if isinstance(result, tuple):
        _require_arrays(name, results)
    arrays = [_checked(name, array_) for array_ in results]
    needed = sum(wire.align(a.nbytes) for a in arrays)
    if needed > wire.align(item.out_capacity):
        total = sum(a.nbytes for a in arrays)
        raise ContractError(f"{name} returned {total} bytes; at most {item.out_capacity} fit here")
    return arrays


def _require_arrays(name: str, results: tuple[object, ...]) -> None:
    """Say which item of a tuple is none: "compress returned int" would not be what happened."""
    for i, item in enumerate(results):
        if not isinstance(item, np.ndarray | np.generic):
            scalars = ", or NumPy scalars for single numbers" if name == "run" else ""
            raise ContractError(
                f"{name} returned a tuple whose item {i} is {type(item).__name__}; "
                f"NumPy arrays are needed{scalars}"
            )


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    start, other = a.ctypes.data, b.ctypes.data
    return start < other + b.nbytes and other < start + a.nbytes


def _checked(name: str, result: object) -> np.ndarray:
    # A NumPy scalar is an array of 0 dimensions: a step, a count.
    if not isinstance(result, np.ndarray | np.generic):
        raise ContractError(f"{name} returned {type(result).__name__}; a numpy array is needed")
    result = np.asarray(result)
    if result.dtype.name not in wire.DTYPES or not result.dtype.isnative:
        raise ContractError(
            f"{name} returned an array of {result.dtype}; possible are {', '.join(wire.DTYPES)}"
        )
    if result.ndim > wire.MAX_NDIM:
        raise ContractError(f"{name} returned {result.ndim} dimensions; at most 4 are possible")
    if name == "compress" and (result.dtype != np.uint8 or result.ndim != 1):
        raise ContractError(
            f"compress returned {result.dtype} of shape {result.shape}; a 1-D uint8 array is needed"
        )
    return result


def _forbid_last_page(area: mmap.mmap) -> None:
    """Reading on from what ends where the inputs do ends the process, as it should be found."""
    start = np.frombuffer(area, np.uint8).ctypes.data
    last = ctypes.c_void_p(start + len(area) - mmap.PAGESIZE)
    ctypes.CDLL(None).mprotect(last, ctypes.c_size_t(mmap.PAGESIZE), 0)


def _advise(area: mmap.mmap, advice: int, nbytes: int) -> None:
    # Linux before 5.14 has no POPULATE; pages then fault in on first touch, inside the clock.
    try:
        area.madvise(advice, 0, nbytes)
    except OSError:
        return
