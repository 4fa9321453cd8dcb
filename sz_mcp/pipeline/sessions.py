"""Sessions beside the one that a kernel is evaluated in: each lasts as long as one question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from kernels.records import Failure
from toolchains.base import Session

from .requests import Watch

Opened = Callable[[], Session | Failure]
"""Loads a kernel in processes of its own."""


@contextmanager
def further(opened: Opened, watch: Watch) -> Iterator[Session | Failure]:
    """A session while this lasts, killed if the caller goes away; or why there is none."""
    session = opened()
    if isinstance(session, Failure):
        yield session
        return
    watch.cancellation.attach(session.kill)
    try:
        with closing(session):
            yield session
    finally:
        watch.cancellation.detach(session.kill)
