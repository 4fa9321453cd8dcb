"""Requests to one child, through the clock: load, then any number of calls.

A call: the child maps its inputs and sleeps; the content is written; a look that it slept; `go`;
the reply; a look that it sleeps again, which stops the clock. Its results stay where they are while
the server reads them, and a last look (`still_intact`) shows that they were not touched meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernels.records import Arg, Array, Submission
from toolchains.base import Fill, Phase, Reply
from toolchains.child import wire

from .arenas import Arena
from .clock import Snapshot, lost_to_others_s, own_wait_ns, snapshot
from .cores import all_cores
from .counters import Counters
from .memory import MemoryReader
from .process import ChildGone, ChildProcess

_LOAD_DEADLINE_S = 20.0
_SETTLE_S = 0.25
"""Longest wait for a child to fall asleep after its reply; threads that run on are not accepted."""
_SLEPT_SHARE = 0.7
_WATCH_S = 2e-3
_GUIDE_BYTES = 1 << 16
_DISTURBED_SHARE = 0.1
_DISTURBED_FLOOR_S = 100e-6


@dataclass(frozen=True)
class _Content:
    """What a request's inputs hold."""

    arrays: list[tuple[wire.Placed, Array]]
    fill: Fill | None


class Channel:
    """One child that holds one submission."""

    def __init__(self, child: ChildProcess, threads: int = 1) -> None:
        """threads: that the child may use."""
        self.child = child
        self.descending = False
        """Order of an emulated GPU's threads in the calls to come."""
        self._threads = threads
        # Watching for a reply without sleeping takes a core that must be free.
        self._watch = threads < len(all_cores())
        self._inputs: Arena | None = None
        self._outputs: Arena | None = None
        self._rest: Snapshot | None = None
        self._slept: bool | None = None
        """Whether it had slept until it was stopped; None while it is not."""
        self._memory = MemoryReader(child.pid)
        self._hold = False
        self._landing = np.empty(0, np.uint8)
        self._explains = False
        self._called: set[str] = set()
        self._rates: dict[str, float] = {}

    def send_sources(self, submission: Submission, asked: int = 0) -> None:
        """Begin to load a submission; asked: wire.EXPLAINS or wire.CHECKS. Raises ChildGone."""
        self._explains = bool(asked & wire.EXPLAINS)
        blob = wire.pack_sources(dict(submission.files))
        fd = os.memfd_create("sources", os.MFD_CLOEXEC)
        try:
            os.write(fd, blob)
            os.lseek(fd, 0, os.SEEK_SET)
            asked |= self.child.asked
            head = wire.HEAD.pack(self.child.next_seq(), wire.Op.LOAD, asked)
            self.child.send(head, [fd])
        finally:
            os.close(fd)

    def wait_loaded(self) -> wire.Fault | None:
        """Wait for the import to finish; a Fault if it failed. Raises ChildGone and WireError."""
        kind, message = self.child.receive(time.monotonic() + _LOAD_DEADLINE_S)
        if kind is wire.Kind.FAULT:
            return wire.unpack_fault(message)
        if kind is not wire.Kind.LOADED or len(message) != wire.HEAD.size + wire.LOADED.size:
            raise ChildGone("protocol", f"answered {kind.name} to LOAD")
        (address,) = wire.LOADED.unpack_from(message, wire.HEAD.size)
        self._hold = self._can_read(address)
        return None

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        capacity: Sequence[int],
        deadline_s: float,
        *,
        profiled: bool = False,
        fill: Fill | None = None,
    ) -> Reply | wire.Fault:
        """One request of `len(items)` calls. Raises ChildGone, and WireError for a lying reply."""
        deadline = time.monotonic() + deadline_s
        placed, arrays = _place(items, capacity)
        calls = wire.Calls(function, tuple(placed), profiled, self._hold, self.descending)
        return self._requested(calls, _Content(arrays, fill), deadline)

    def call_guarded(
        self, function: str, arguments: tuple[Arg, ...], capacity: int, deadline_s: float
    ) -> Reply | wire.Fault:
        """One call whose arrays end where what the child may touch does. Raises as `call`."""
        deadline = time.monotonic() + deadline_s
        placed, arrays = _place((arguments,), (capacity,))
        calls = wire.Calls(function, tuple(placed), held=self._hold)
        self._reserve(calls, deadline)
        assert self._inputs is not None
        placed, arrays = _at_the_end(placed, arrays, self._inputs.nbytes)
        calls = replace(calls, items=tuple(placed))
        return self._requested(calls, _Content(arrays, None), deadline)

    def _requested(
        self, calls: wire.Calls, content: _Content, deadline: float
    ) -> Reply | wire.Fault:
        result = self._request(calls, content, deadline)
        if isinstance(result, wire.Fault) and result.kind is wire.FaultKind.OVERLAP and self._hold:
            # It returns the same memory every time, which is allowed: then results are copied.
            self._hold = False
            calls = replace(calls, held=False)
            result = self._request(calls, content, deadline)
            if isinstance(result, Reply):
                # It has seen this content before, so its time is not what the work takes.
                result = replace(result, disturbed=True)
        return result

    def _request(self, calls: wire.Calls, content: _Content, deadline: float) -> Reply | wire.Fault:
        # Work between requests slows whatever is timed meanwhile, or listens to it.
        idle = self.still_intact()
        self._reserve(calls, deadline)
        self.child.send(wire.pack_prepare(self.child.next_seq(), calls))
        fault = self._expect(wire.Kind.PREPARED, deadline)
        if fault is not None:
            return fault
        _, before = self._stop(deadline)
        inputs = self._write(content)
        samples = self._explains
        counters = Counters(self.child.pid, samples=samples) if calls.profiled else None
        try:
            result = self._go(calls, before, deadline, counters)
        finally:
            if counters is not None:
                counters.close()
        if isinstance(result, wire.Fault):
            return result
        return replace(result, inputs=inputs, intact=result.intact and idle)

    def still_intact(self) -> bool:
        """Whether the child has slept since its last reply, and started no process."""
        if self._rest is None:
            return True
        now = snapshot(self.child.pid)
        return now.asleep and now.cpu_ns == self._rest.cpu_ns and not self.child.strays()

    def rest(self) -> None:
        """Stop the child, which has nothing to do: work of its own would slow what is timed.

        Idempotent.
        """
        if self._slept is None:
            self._slept = self.still_intact()
            self.child.stop()

    def wake(self) -> None:
        """Undo `rest`."""
        if self._slept is None:
            return
        self.child.resume()
        _, now = self._stop(time.monotonic() + _SETTLE_S)
        # To be stopped and to go on takes time; what it did before that is still to be seen.
        if self._slept and self._rest is not None:
            self._rest = now
        self._slept = None

    def close(self) -> None:
        """End the child and let go of the arenas."""
        self.child.close()
        for arena in (self._inputs, self._outputs):
            if arena is not None:
                arena.close()
        self._inputs = self._outputs = None
        self._memory.close()

    def _go(
        self, calls: wire.Calls, before: Snapshot, deadline: float, counters: Counters | None
    ) -> Reply | wire.Fault:
        child, go = self.child, wire.HEAD.pack(self.child.next_seq(), wire.Op.GO, 0)
        nbytes = _work_bytes(calls.items)
        if counters is not None:
            counters.start()
        ready = snapshot(child.pid)
        intact = ready.asleep and ready.cpu_ns == before.cpu_ns and before.asleep
        waited = own_wait_ns()
        start = time.perf_counter()
        child.send(go)
        kind, message = self._await(calls.function, nbytes, deadline)
        end, after = self._stop(deadline)
        waited = own_wait_ns() - waited + max(0, after.wait_ns - before.wait_ns)
        self._rest = after
        cpu_seconds = (after.cpu_ns - ready.cpu_ns) * 1e-9
        lost = lost_to_others_s(waited * 1e-9, cpu_seconds, self._threads * (end - start))
        usage = counters.stop() if counters is not None else None
        if kind is wire.Kind.FAULT:
            return wire.unpack_fault(message)
        if kind is not wire.Kind.DONE:
            raise ChildGone("protocol", f"answered {kind.name} to GO")
        done = wire.unpack_done(message)
        # What the child says may shorten the wait for its next reply, never lengthen it.
        self._learn(calls.function, min(done.nanoseconds * 1e-9, end - start), nbytes)
        return Reply(
            inputs=(),
            outputs=self._collect(calls, done),
            seconds=end - start,
            child_seconds=done.nanoseconds * 1e-9,
            wait_seconds=waited * 1e-9,
            disturbed=lost > self._tolerated(end - start),
            intact=intact and after.asleep and not child.strays(),
            cpu_seconds=cpu_seconds,
            phases=tuple(
                Phase(p.name, p.file, p.line, p.calls, p.nanoseconds * 1e-9, p.compiled)
                for p in done.phases
            ),
            usage=usage,
        )

    def _tolerated(self, seconds: float) -> float:
        """Waiting to run, summed over the child's threads, that a measurement may lose."""
        return self._threads * max(_DISTURBED_FLOOR_S, _DISTURBED_SHARE * seconds)

    def _await(self, function: str, nbytes: int, deadline: float) -> tuple[wire.Kind, bytes]:
        """Sleep through most of the expected time, then watch: waking up costs 0.1 ms and more."""
        rate = self._rates.get(function)
        if rate is not None and self._watch:
            time.sleep(_SLEPT_SHARE * rate * nbytes)
            reply = self.child.receive_spinning(time.monotonic() + rate * nbytes + _WATCH_S)
            if reply is not None:
                return reply
        return self.child.receive(deadline)

    def _learn(self, function: str, seconds: float, nbytes: int) -> None:
        """Remember the least time per byte: what to expect. A first call compiles and is no guide.

        It only decides when the server begins to watch.
        """
        if function not in self._called:
            self._called.add(function)
        elif nbytes >= _GUIDE_BYTES:
            rate = seconds / nbytes
            self._rates[function] = min(rate, self._rates.get(function, rate))

    def _stop(self, deadline: float) -> tuple[float, Snapshot]:
        """The moment from which on the child sleeps: two looks that agree."""
        give_up = min(deadline, time.monotonic() + _SETTLE_S)
        end = time.perf_counter()
        last = snapshot(self.child.pid)
        while True:
            now_at, now = time.perf_counter(), snapshot(self.child.pid)
            agree = last.asleep and now.asleep and last.cpu_ns == now.cpu_ns
            if agree or time.monotonic() > give_up:
                return end, now
            end, last = now_at, now

    def _expect(self, wanted: wire.Kind, deadline: float) -> wire.Fault | None:
        soon = self.child.receive_spinning(time.monotonic() + _WATCH_S) if self._watch else None
        kind, message = soon or self.child.receive(deadline)
        if kind is wire.Kind.FAULT:
            return wire.unpack_fault(message)
        if kind is not wanted:
            raise ChildGone("protocol", f"answered {kind.name}, not {wanted.name}")
        return None

    def _reserve(self, calls: wire.Calls, deadline: float) -> None:
        """Make the arenas large enough for a request."""
        arrays = [v for item in calls.items for v in item.values if isinstance(v, wire.Placed)]
        inputs = max((v.offset + v.nbytes for v in arrays), default=0)
        outputs = max((i.out_offset + i.out_capacity for i in calls.items), default=0)
        if calls.held:
            outputs = 0
        if (
            self._inputs is not None
            and self._outputs is not None
            and inputs <= self._inputs.nbytes
            and outputs <= self._outputs.nbytes
        ):
            return
        for arena in (self._inputs, self._outputs):
            if arena is not None:
                arena.close()
        self._inputs = Arena("inputs", _roomy(inputs), child_may_write=False)
        self._outputs = Arena("outputs", _roomy(outputs), child_may_write=True)
        head = wire.HEAD.pack(self.child.next_seq(), wire.Op.ARENAS, 0)
        sizes = wire.ARENA.pack(self._inputs.mapped_bytes, self._outputs.mapped_bytes)
        self.child.send(head + sizes, [self._inputs.fd, self._outputs.fd])
        fault = self._expect(wire.Kind.MAPPED, deadline)
        if fault is not None:
            raise ChildGone("protocol", fault.message)

    def _write(self, content: _Content) -> tuple[Array, ...]:
        """Put the inputs where the child has mapped them; what it will see, read-only."""
        assert self._inputs is not None
        views = [self._inputs.view(place) for place, _ in content.arrays]
        if content.fill is not None:
            content.fill(views)
        else:
            for view, (_, array) in zip(views, content.arrays, strict=True):
                np.copyto(view, array)
        for view in views:
            view.flags.writeable = False
        return tuple(views)

    def _collect(self, calls: wire.Calls, done: wire.Done) -> tuple[tuple[Array, ...], ...]:
        """The outputs, as read-only arrays of this process."""
        if len(done.outputs) != len(calls.items):
            raise wire.WireError("another number of outputs than of items")
        for item, outputs in zip(calls.items, done.outputs, strict=True):
            if sum(wire.align(p.nbytes) for p in outputs) > wire.align(item.out_capacity):
                raise wire.WireError("outputs are larger than their place")
        if calls.held:
            collected = self._read(done.outputs)
        else:
            collected = tuple(tuple(map(self._outputs_view, o)) for o in done.outputs)
        for views in collected:
            for view in views:
                view.flags.writeable = False
        return collected

    def _outputs_view(self, place: wire.Placed) -> Array:
        if self._outputs is None:
            raise wire.WireError("an output in an arena that does not exist")
        return self._outputs.view(place)

    def _read(self, places: tuple[tuple[wire.Placed, ...], ...]) -> tuple[tuple[Array, ...], ...]:
        """Copy held results into a buffer of this process, which serves again next time."""
        total = sum(wire.align(p.nbytes) for outputs in places for p in outputs)
        if self._landing.nbytes < total:
            self._landing = np.empty(_roomy(total), np.uint8)
        at, collected, pieces = 0, [], []
        for outputs in places:
            arrays = []
            for place in outputs:
                target = self._landing[at : at + place.nbytes]
                pieces.append((place.offset, target))
                arrays.append(_shaped(target, place))
                at += wire.align(place.nbytes)
            collected.append(tuple(arrays))
        try:
            self._memory.read(pieces)
        except OSError as error:
            raise wire.WireError(f"a result can't be read: {error}") from error
        return tuple(collected)

    def _can_read(self, address: int) -> bool:
        probe = np.zeros(len(wire.PROBE), np.uint8)
        try:
            self._memory.read([(address, probe)])
        except OSError:
            return False
        return probe.tobytes() == wire.PROBE


def _shaped(target: npt.NDArray[np.uint8], place: wire.Placed) -> Array:
    try:
        return target.view(place.dtype).reshape(place.shape)
    except ValueError as error:
        raise wire.WireError(f"an impossible shape: {error}") from error


def _place(
    items: Sequence[tuple[Arg, ...]], capacity: Sequence[int]
) -> tuple[list[wire.Item], list[tuple[wire.Placed, Array]]]:
    """Lay the items' arrays and output rooms out in the two arenas."""
    placed, arrays = [], []
    at = out_at = 0
    for item, room in zip(items, capacity, strict=True):
        values: list[wire.Value] = []
        for value in item:
            if isinstance(value, np.ndarray):
                place = wire.Placed(value.dtype.name, value.shape, at)
                arrays.append((place, value))
                at = wire.align(at + place.nbytes)
                values.append(place)
            else:
                values.append(value)
        placed.append(wire.Item(tuple(values), out_at, room))
        out_at = wire.align(out_at + room)
    return placed, arrays


def _at_the_end(
    items: Sequence[wire.Item], arrays: Sequence[tuple[wire.Placed, Array]], end: int
) -> tuple[list[wire.Item], list[tuple[wire.Placed, Array]]]:
    """The same with the last byte of the inputs as near before `end` as their alignment lets it."""
    used = max((place.offset + place.nbytes for place, _ in arrays), default=0)
    by = (end - used) // wire.LEAST_ALIGNMENT * wire.LEAST_ALIGNMENT

    def moved(value: wire.Value) -> wire.Value:
        if isinstance(value, wire.Placed):
            return replace(value, offset=value.offset + by)
        return value

    placed = [replace(item, values=tuple(map(moved, item.values))) for item in items]
    return placed, [(replace(place, offset=place.offset + by), a) for place, a in arrays]


def _work_bytes(items: Sequence[wire.Item]) -> int:
    """A measure of a request's size: its inputs or the room for its outputs."""
    placed = (v.nbytes for item in items for v in item.values if isinstance(v, wire.Placed))
    return max(sum(placed), sum(item.out_capacity for item in items))


def _roomy(nbytes: int) -> int:
    """Room for the next, slightly larger request too: mapping anew costs more than the pages."""
    return max(1 << 16, nbytes + nbytes // 8)
