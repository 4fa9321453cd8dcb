"""The shim over a machine of a few lines, in this process, by the bytes of both ends' messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from simulators.wafer import protocol
from simulators.wafer.host import Host
from tests.simulators.wafer.fake_machine import FakeMachine, program
from toolchains.child.shims.cerebras import _link


class Direct:
    """A link that packs and unpacks as both ends do."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.asked: list[Mapping[str, Any]] = []

    def exchange(
        self, header: Mapping[str, Any], payload: bytes
    ) -> tuple[Mapping[str, Any], bytes]:
        self.asked.append(header)
        answer = self._host.answer(*protocol.unpack(_link.pack(header, payload)))
        return _link.unpack(protocol.pack(*answer))


@pytest.fixture
def device() -> Iterator[FakeMachine]:
    """The machine that the next SdkRuntime runs on."""
    made = FakeMachine(program())
    before = dict(_link.CONNECTION.__dict__)
    _link.CONNECTION.__dict__.update(_link.Connection().__dict__)
    _link.CONNECTION.link = Direct(Host(lambda _: made, lambda _: made.program))
    yield made
    _link.CONNECTION.__dict__.update(before)
