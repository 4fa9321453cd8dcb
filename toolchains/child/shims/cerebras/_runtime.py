"""SdkRuntime: copies, launches and streams of one program on the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from . import _arrays
from ._arrays import Array, Shape
from ._enums import MemcpyDataType, MemcpyOrder
from ._errors import SdkRuntimeError
from ._layout import Artifacts, Stream
from ._link import CONNECTION
from ._names import listed, nearest


class Task:
    """A call that may still be going on."""

    def __init__(
        self, ticket: int, target: Array | None = None, shape: Shape | None = None, dtype: str = ""
    ) -> None:
        self.ticket = ticket
        self.done = False
        self._target, self._shape, self._dtype = target, shape, dtype

    def finish(self, payload: bytes) -> None:
        """Take what came of it."""
        if self._target is not None and self._shape is not None and not self.done:
            _arrays.fill(self._target, payload, self._dtype, self._shape)
        self.done = True


class SdkRuntime:
    """Runs a compiled program."""

    def __init__(self, bindir: str | Path | Artifacts, *args: Any, **kwargs: Any) -> None:
        """bindir: where cslc wrote, or what SdkLayout.compile gave.

        The keywords of the SDK (cmaddr, …) change nothing here.
        """
        del args
        if kwargs.get("cmaddr"):
            raise SdkRuntimeError(
                f"cmaddr={kwargs['cmaddr']!r}: there is no CS system here, only the simulator;"
                " leave cmaddr out"
            )
        self._folder = str(bindir)
        self._artifacts = bindir if isinstance(bindir, Artifacts) else None
        self._about, _ = CONNECTION.ask({"do": "load", "name": self._folder})
        CONNECTION.last[self._folder] = self._about
        self._symbols: dict[str, int] = {one["name"]: one["id"] for one in self._about["exports"]}
        self._tasks: list[Task] = []
        self._loaded = self._running = self._stopped = False

    # --- life ------------------------------------------------------------------------------------

    def load(self) -> None:
        """Put the program on the wafer, with what SdkLayout's set_symbol_all said."""
        if self._artifacts is not None and not self._loaded:
            for x, y, name, data in self._artifacts.values:
                self._ask({"do": "write", "x": x, "y": y, "name": name}, data)
        self._loaded = True

    def run(self) -> None:
        """Start it."""
        if not self._loaded:
            raise SdkRuntimeError("run() comes after load()")
        self._running = True

    def stop(self) -> None:
        """Wait for all that was asked for, and stop the program."""
        if self._stopped:
            return
        self._require_running("stop")
        self._ask({"do": "stop"})
        for task in self._tasks:
            if not task.done:
                self.task_wait(task)
        CONNECTION.flush()
        self._stopped, self._running = True, False

    def __enter__(self) -> SdkRuntime:
        """Load and run."""
        self.load()
        self.run()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, unless an exception is on its way."""
        if kind is None:
            self.stop()

    # --- names -----------------------------------------------------------------------------------

    def get_id(self, symbol: str) -> int:
        """The number of an exported symbol."""
        if symbol not in self._symbols:
            raise SdkRuntimeError(
                f'the program exports no "{symbol}"{nearest(symbol, self._symbols)};'
                f" it exports {listed(self._symbols)}"
            )
        return self._symbols[symbol]

    # --- copies ----------------------------------------------------------------------------------

    def memcpy_h2d(
        self,
        dest: int,
        src: Array,
        px: int,
        py: int,
        w: int,
        h: int,
        elem_per_pe: int,
        *,
        streaming: bool,
        data_type: MemcpyDataType,
        order: MemcpyOrder,
        nonblock: bool,
    ) -> Task:
        """From the host to a symbol, or with streaming to a colour, of a rectangle of PEs."""
        shape = Shape(h, w, elem_per_pe, MemcpyOrder(order))
        words = _arrays.words_of("memcpy_h2d", src, shape)
        rows = np.ascontiguousarray(shape.to_rows(words))
        where = {"rectangle": _rectangle(px, py, w, h), "count": int(elem_per_pe)}
        if streaming:
            header: dict[str, Any] = {"do": "send", "color": int(dest), **where}
            return self._command(header, rows.astype("<u4", copy=False).tobytes(), nonblock)
        data_type = MemcpyDataType(data_type)
        header = {"do": "h2d", "symbol": int(dest), "bits": _bits(data_type), **where}
        return self._command(header, _arrays.narrow(rows, data_type).tobytes(), nonblock)

    def memcpy_d2h(
        self,
        dest: Array,
        src: int,
        px: int,
        py: int,
        w: int,
        h: int,
        elem_per_pe: int,
        *,
        streaming: bool,
        data_type: MemcpyDataType,
        order: MemcpyOrder,
        nonblock: bool,
    ) -> Task:
        """From a symbol, or with streaming from a colour, of a rectangle of PEs to the host."""
        shape = Shape(h, w, elem_per_pe, MemcpyOrder(order))
        target = _arrays.destination("memcpy_d2h", dest, shape)
        header: dict[str, Any] = {"rectangle": _rectangle(px, py, w, h), "count": int(elem_per_pe)}
        bits = _bits(MemcpyDataType(data_type))
        if streaming:
            header |= {"do": "receive", "color": int(src)}
            bits = 32
        else:
            header |= {"do": "d2h", "symbol": int(src), "bits": bits}
        dtype = "<u2" if bits == 16 else "<u4"
        return self._command(header, b"", nonblock, (target, shape, dtype))

    def memcpy_h2d_rowbcast(
        self,
        dest: int,
        src: Array,
        px: int,
        py: int,
        w: int,
        h: int,
        elem_per_pe: int,
        *,
        streaming: bool,
        data_type: MemcpyDataType,
        order: MemcpyOrder,
        nonblock: bool,
    ) -> Task:
        """The same (h, 1, l) values to every column of a rectangle."""
        shape = Shape(h, 1, elem_per_pe, MemcpyOrder(order))
        header = {"spread": "row", "rectangle": _rectangle(px, py, w, h), "nonblock": nonblock}
        return self._broadcast(header, dest, src, shape, (streaming, data_type))

    def memcpy_h2d_colbcast(
        self,
        dest: int,
        src: Array,
        px: int,
        py: int,
        w: int,
        h: int,
        elem_per_pe: int,
        *,
        streaming: bool,
        data_type: MemcpyDataType,
        order: MemcpyOrder,
        nonblock: bool,
    ) -> Task:
        """The same (1, w, l) values to every row of a rectangle."""
        shape = Shape(1, w, elem_per_pe, MemcpyOrder(order))
        header = {"spread": "column", "rectangle": _rectangle(px, py, w, h), "nonblock": nonblock}
        return self._broadcast(header, dest, src, shape, (streaming, data_type))

    def _broadcast(
        self,
        header: dict[str, Any],
        dest: int,
        src: Array,
        shape: Shape,
        how: tuple[bool, MemcpyDataType],
    ) -> Task:
        streaming, data_type = how
        words = _arrays.words_of("memcpy_h2d broadcast", src, shape)
        rows = np.ascontiguousarray(shape.to_rows(words))
        nonblock = bool(header.pop("nonblock"))
        if streaming:
            header |= {"do": "send", "color": int(dest), "count": int(shape.count)}
            return self._command(header, rows.astype("<u4", copy=False).tobytes(), nonblock)
        bits = _bits(MemcpyDataType(data_type))
        header |= {"do": "h2d", "symbol": int(dest), "count": int(shape.count), "bits": bits}
        return self._command(header, _arrays.narrow(rows, data_type).tobytes(), nonblock)

    # --- streams of SdkLayout --------------------------------------------------------------------

    def send(self, stream: Stream, data: Array, *, nonblock: bool = False, **kwargs: Any) -> Task:
        """Values to an input port, one in each wavelet."""
        del kwargs
        color, x, y = self._port(stream, is_input=True)
        words = _arrays.wavelets("send", data)
        where = {"rectangle": [x, y, 1, 1], "count": words.size}
        return self._command({"do": "send", "color": color, **where}, words.tobytes(), nonblock)

    def receive(
        self, stream: Stream, data: Array, size: int, *, nonblock: bool = False, **kwargs: Any
    ) -> Task:
        """Values from an output port, one of each wavelet; 16-bit arrays get the lower halves."""
        del kwargs
        color, x, y = self._port(stream, is_input=False)
        target = _arrays.wavelet_destination("receive", data, int(size))
        shape = Shape(1, 1, int(size), MemcpyOrder.ROW_MAJOR)
        header = {"do": "receive", "color": color, "rectangle": [x, y, 1, 1], "count": int(size)}
        return self._command(header, b"", nonblock, (target, shape, "<u4"))

    def _port(self, stream: Stream, *, is_input: bool) -> tuple[int, int, int]:
        known = {} if self._artifacts is None else self._artifacts.streams
        if not isinstance(stream, Stream) or stream.port.id not in known:
            raise SdkRuntimeError("send and receive take a stream of the SdkLayout that runs here")
        if stream.port.input is not is_input:
            raise SdkRuntimeError("send takes an input stream, receive an output stream")
        return known[stream.port.id]

    # --- launches --------------------------------------------------------------------------------

    def launch(self, symbol: str, *args: Any, nonblock: bool) -> Task:
        """Start an exported function at every PE, with arguments of NumPy's scalar types."""
        header = {"do": "launch", "name": symbol, "arguments": [_argument(one) for one in args]}
        return self._command(header, b"", nonblock)

    def call(self, sym: str, params: Sequence[Any] = (), *, nonblock: bool) -> Task:
        """Start an exported function at every PE, the arguments in a list."""
        return self.launch(sym, *params, nonblock=nonblock)

    def task_wait(self, task: Task) -> None:
        """Wait for a call that did not block."""
        if not task.done:
            _, payload = self._ask({"do": "wait", "ticket": task.ticket})
            task.finish(payload)

    def is_task_done(self, task: Task) -> bool:
        """Whether it is done; the simulator runs until it is, as nothing goes on meanwhile."""
        self.task_wait(task)
        return True

    # --- looking ---------------------------------------------------------------------------------

    def read_symbol(self, x: int, y: int, symbol: str, dtype: Any = "uint16") -> Array:
        """A variable of one PE's memory, by its name in CSL."""
        return read_symbol(self._about, x, y, symbol, dtype)

    def dump_core(self, corefile: str | Path = "") -> None:
        """Nothing to do: the machine is kept, and debug_util asks it."""

    @property
    def cycles(self) -> int:
        """Cycles since the program's start (not of the SDK)."""
        answer, _ = self._ask({"do": "cycles"})
        return int(answer["cycles"])

    # --- requests --------------------------------------------------------------------------------

    def _require_running(self, what: str) -> None:
        if self._stopped:
            raise SdkRuntimeError(f"{what} after stop()")
        if not self._running:
            raise SdkRuntimeError(f"{what} comes after load() and run()")

    def _ask(
        self, header: Mapping[str, Any], payload: bytes = b""
    ) -> tuple[Mapping[str, Any], bytes]:
        return CONNECTION.ask({"machine": self._about["machine"], **header}, payload)

    def _command(
        self,
        header: Mapping[str, Any],
        payload: bytes,
        nonblock: bool,
        into: tuple[Array, Shape, str] | None = None,
    ) -> Task:
        self._require_running(str(header["do"]))
        answer, data = self._ask({**header, "nonblock": bool(nonblock)}, payload)
        task = Task(answer["ticket"], *into) if into else Task(answer["ticket"])
        if answer.get("done"):
            task.finish(data)
        else:
            self._tasks.append(task)
        return task


def read_symbol(about: Mapping[str, Any], x: int, y: int, symbol: str, dtype: Any) -> Array:
    """A variable of one PE of a machine that was loaded."""
    header = {"do": "read", "machine": about["machine"], "x": int(x), "y": int(y), "name": symbol}
    _, data = CONNECTION.ask(header)
    kind = np.dtype(dtype)
    return np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind).copy()


def _rectangle(px: int, py: int, w: int, h: int) -> list[int]:
    """Plain numbers: host programs give NumPy's too."""
    return [int(px), int(py), int(w), int(h)]


def _bits(data_type: MemcpyDataType) -> int:
    return 16 if data_type is MemcpyDataType.MEMCPY_16BIT else 32


def _argument(value: Any) -> dict[str, Any]:
    """An argument of a launch: a NumPy scalar with its type, or a Python number."""
    if isinstance(value, np.generic):
        return {"dtype": value.dtype.str, "value": value.tobytes().hex()}
    if isinstance(value, bool | int | float):
        return {"value": value}
    raise SdkRuntimeError(f"an argument of a launch is a NumPy scalar, not {value!r}")
