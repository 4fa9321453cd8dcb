"""A loaded wafer submission: a child per function for its host part, with a machine each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernels.records import Arg, Diagnostic, Failure, FailureKind, Status
from toolchains.around import Around
from toolchains.base import Fill, Reply
from toolchains.child import wire
from toolchains.children.pool import Pool
from toolchains.children.process import ChildProcess
from toolchains.children.session import ChildSession
from toolchains.device_use import DeviceUse
from toolchains.wafer_flow import misuse
from toolchains.wafer_machines import WaferMachine

_PATIENCE_S = 3600.0
"""That a child's machine may take, in the child's whole life."""
_NEEDED_BYTES = 256 << 20
"""That a child may copy to its machine at once."""


class WaferSession(Around):
    """Implements `toolchains.base.Session`: a child per function, with a machine each."""

    def __init__(
        self,
        session: ChildSession,
        machines: Mapping[str, WaferMachine],
        warned: Callable[[], tuple[Diagnostic, ...]] = tuple,
    ) -> None:
        """machines: function → that of the child that runs it. warned: by the compiler so far."""
        super().__init__(session)
        self._machines, self._warned = machines, warned
        self._uses: dict[str, DeviceUse | None] = {}

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        *,
        capacity: Sequence[int],
        deadline_s: float,
        profiled: bool = False,
        fill: Fill | None = None,
    ) -> Reply | Failure:
        """See `Session.call`; one item after the other, since each is judged by what it copied."""
        refused = _refused_type(items)
        if refused is not None:
            return refused
        machine = self._machines[function]
        machine.begin()
        reply = self._session.call(
            function,
            items,
            capacity=capacity,
            deadline_s=deadline_s,
            profiled=profiled,
            fill=fill,
        )
        self._uses[function] = machine.end()
        if isinstance(reply, Failure):
            return _explained(reply, machine.seen.halt, self._warned())
        if machine.seen.lost:
            text = f"{machine.seen.lost}, and with it the count of its cycles"
            return Failure(Status.ERROR, Status.TERMINATES, FailureKind.TIMEOUT, text)
        inputs = [value for item in items for value in item]
        outputs = [array for output in reply.outputs for array in output]
        wrong = misuse(machine.seen.traffic, [*inputs, *reply.inputs], outputs)
        if wrong:
            return Failure(Status.REJECTED, Status.TERMINATES, FailureKind.INTEGRITY, wrong)
        return reply

    def call_guarded(
        self, function: str, arguments: tuple[Arg, ...], *, capacity: int, deadline_s: float
    ) -> Reply | Failure:
        """See `Session.call_guarded`: only the host part reads the array."""
        refused = _refused_type([arguments])
        if refused is not None:
            return refused
        machine = self._machines[function]
        machine.begin()
        reply = self._session.call_guarded(
            function, arguments, capacity=capacity, deadline_s=deadline_s
        )
        self._uses[function] = machine.end()
        return reply

    def device_use(self, function: str) -> DeviceUse | None:
        """See `Session.device_use`."""
        return self._uses.get(function)

    def profiles(self, function: str) -> Sequence[Mapping[str, Any]]:
        """What the machines of its last call counted (`simulators.wafer.profiling.as_json`)."""
        return self._machines[function].profiles

    def kill(self) -> None:
        """See `Session.kill`."""
        for machine in set(self._machines.values()):
            machine.kill()
        self._session.kill()

    def close(self) -> None:
        """See `Session.close`."""
        self._session.close()
        for machine in set(self._machines.values()):
            machine.close()


class Simulating:
    """Children of the pool, each with a machine of its own."""

    def __init__(self, pool: Pool, make: Callable[[], WaferMachine]) -> None:
        self._pool, self._make = pool, make
        self._machines: list[WaferMachine] = []

    def take(self, threads: int = 1) -> ChildProcess:
        """See `Pool.take`."""
        child = self._pool.take(threads)
        machine = self._make()
        self._machines.append(machine)
        child.asked |= wire.WAFER
        child.give = machine.give
        child.patience_s, child.most_needed = _PATIENCE_S, _NEEDED_BYTES
        return child

    def of(self, functions: Sequence[str]) -> list[WaferMachine]:
        """The machine of each function's child: one for all, or each its own."""
        one = len(self._machines) == 1
        return [self._machines[0 if one else index] for index in range(len(functions))]

    def close(self) -> None:
        """End the machines."""
        for machine in self._machines:
            machine.close()


def _refused_type(items: Sequence[tuple[Arg, ...]]) -> Failure | None:
    for item in items:
        for value in item:
            if isinstance(value, np.ndarray) and value.dtype == np.float64:
                break
            if isinstance(value, np.dtype) and value == np.float64:
                break
        else:
            continue
        text = "a PE of the wafer has no float64: this target takes float32 and integers"
        return Failure(Status.REFUSED, Status.TERMINATES, FailureKind.UNSUPPORTED, text)
    return None


def _explained(failure: Failure, halt: str, warned: tuple[Diagnostic, ...]) -> Failure:
    """With what the machine said, where that is why, and what the compiler had warned of."""
    if not halt:
        return failure
    known = replace(failure, diagnostics=(*failure.diagnostics, *warned))
    if halt in failure.message:
        return known
    return replace(known, details="\n".join(filter(None, (failure.details, halt))))
