"""A session around another: what a kind of it does not change goes through."""

from __future__ import annotations

from contextlib import AbstractContextManager

from kernels.records import Arg, Failure
from toolchains.base import Reply, Session
from toolchains.device_use import DeviceUse


class Around:
    """All of `toolchains.base.Session` but `call`, as the session within does it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def call_guarded(
        self, function: str, arguments: tuple[Arg, ...], *, capacity: int, deadline_s: float
    ) -> Reply | Failure:
        """See `Session.call_guarded`."""
        return self._session.call_guarded(
            function, arguments, capacity=capacity, deadline_s=deadline_s
        )

    def still_intact(self, function: str) -> bool:
        """See `Session.still_intact`."""
        return self._session.still_intact(function)

    def null_round_trip(self, function: str) -> float:
        """See `Session.null_round_trip`."""
        return self._session.null_round_trip(function)

    def device_use(self, function: str) -> DeviceUse | None:
        """See `Session.device_use`."""
        return self._session.device_use(function)

    def rest(self) -> None:
        """See `Session.rest`."""
        self._session.rest()

    def wake(self) -> None:
        """See `Session.wake`."""
        self._session.wake()

    def apart(self) -> AbstractContextManager[None]:
        """See `Session.apart`."""
        return self._session.apart()

    def alive(self) -> bool:
        """See `Session.alive`."""
        return self._session.alive()

    def kill(self) -> None:
        """See `Session.kill`."""
        self._session.kill()

    def close(self) -> None:
        """See `Session.close`."""
        self._session.close()
