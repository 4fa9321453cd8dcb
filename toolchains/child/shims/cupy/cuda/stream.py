"""Streams and events. Work is done when it is asked for, so all there is to do is to agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .._engine import PROCESS
from .._errors import CUDARuntimeError, NotEmulatedError, TimelessError


class Event:
    """A point in the order of work. It has no time."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotEmulatedError("cupy.cuda.Event(interprocess=True)")
        self.ptr, self.block, self.disable_timing = id(self), block, disable_timing

    @property
    def done(self) -> bool:
        """Whether it has happened."""
        return True

    def record(self, stream: BaseStream | None = None) -> None:
        """Let it happen after what was asked for."""

    def synchronize(self) -> None:
        """Wait for it."""


class BaseStream:
    """What work can be asked of."""

    def __init__(self, ptr: int = 0) -> None:
        self.ptr, self.device_id = ptr, 0

    def __enter__(self) -> BaseStream:
        PROCESS.streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        PROCESS.streams.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseStream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    @property
    def done(self) -> bool:
        """Whether all that was asked for is done."""
        return True

    @property
    def is_capturing(self) -> bool:
        """Whether work is recorded instead of done."""
        return False

    def use(self) -> BaseStream:
        """Make it the current one until another is."""
        PROCESS.streams[-1:] = [self]
        return self

    def synchronize(self) -> None:
        """Wait for what was asked for."""

    def record(self, event: Event | None = None) -> Event:
        """An event after what was asked for."""
        return event or Event()

    def wait_event(self, event: Event) -> None:
        """Go on after an event."""

    def add_callback(self, callback: Callable[[BaseStream, int, Any], None], arg: Any) -> None:
        """Call a function of the host after what was asked for."""
        callback(self, 0, arg)

    def launch_host_func(self, callback: Callable[[Any], None], arg: Any) -> None:
        """Call a function of the host after what was asked for."""
        callback(arg)

    def begin_capture(self, mode: int | None = None) -> None:
        """Not emulated."""
        raise NotEmulatedError("cupy.cuda.Stream.begin_capture")

    def end_capture(self) -> None:
        """Not emulated."""
        raise NotEmulatedError("cupy.cuda.Stream.end_capture")


class Stream(BaseStream):
    """A stream."""

    null: ClassVar[BaseStream]
    ptds: ClassVar[BaseStream]

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        *,
        priority: int | None = None,
    ) -> None:
        super().__init__(0 if null else 2 if ptds else id(self))
        self.is_non_blocking, self.priority = non_blocking, priority or 0

    @staticmethod
    def from_external(obj: object) -> BaseStream:
        """Not emulated."""
        raise NotEmulatedError("cupy.cuda.Stream.from_external")


class ExternalStream(BaseStream):
    """A stream that something else made."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        super().__init__(ptr)


Stream.null, Stream.ptds = Stream(null=True), Stream(ptds=True)


def get_current_stream(device_id: int = -1) -> BaseStream:
    """The stream that work is asked of."""
    return PROCESS.streams[-1] if PROCESS.streams else Stream.null


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Raise TimelessError: nothing here takes a time worth telling."""
    for event in (start_event, end_event):
        if event.disable_timing:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle", "invalid resource handle", 400)
    raise TimelessError("cupy.cuda.get_elapsed_time")
