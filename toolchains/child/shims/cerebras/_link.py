"""The way to the machine, which is another process: requests of simulators/wafer/host.py.

Whoever runs a host program connects a link first: over a socket for `sz-mcp cs-python`, over the
child's own channel in an evaluation.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

from ._errors import MachineError, ProgramHalted, SdkRuntimeError

Header = Mapping[str, Any]

_SIZES = struct.Struct("<II")


class Link(Protocol):
    """Carries one request and brings its answer."""

    def exchange(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Raises MachineError if there is no answer."""


def pack(header: Header, payload: bytes = b"") -> bytes:
    """A message as bytes: two lengths, the header in JSON, the payload."""
    text = json.dumps(header).encode()
    return b"".join((_SIZES.pack(len(text), len(payload)), text, payload))


def unpack(message: bytes) -> tuple[Header, bytes]:
    """What `pack` made."""
    if len(message) < _SIZES.size:
        raise MachineError("the machine's answer is cut short")
    head, body = _SIZES.unpack_from(message)
    if len(message) != _SIZES.size + head + body:
        raise MachineError("the machine's answer has another length than it says")
    return json.loads(message[_SIZES.size : _SIZES.size + head]), message[_SIZES.size + head :]


class SocketLink:
    """To a machine at the other end of a stream socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def exchange(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Raises MachineError if there is no answer."""
        try:
            self._connection.sendall(pack(header, payload))
            sizes = self._exactly(_SIZES.size)
            return unpack(sizes + self._exactly(sum(_SIZES.unpack(sizes))))
        except OSError as problem:
            raise MachineError(f"the machine's process has ended: {problem}") from problem

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._connection.recv(min(count - len(parts), 1 << 20))
            if not part:
                raise MachineError("the machine's process has ended")
            parts += part
        return bytes(parts)


class Connection:
    """The link of this process, and what programs print over it."""

    def __init__(self) -> None:
        self.link: Link | None = None
        self.last: dict[str, Header] = {}
        """Of each folder, what is known of the program that ran from it last."""
        self._lines: dict[tuple[int, int, int], str] = {}
        """Of a machine and PE, what it printed since its last end of line."""

    def ask(self, header: Header, payload: bytes = b"") -> tuple[Header, bytes]:
        """The answer to a request. Raises SdkRuntimeError, ProgramHalted or MachineError."""
        if self.link is None:
            raise MachineError("no machine is connected: run this with `sz-mcp cs-python`")
        answer, data = self.link.exchange(header, payload)
        for _, x, y, text in answer.get("printed", ()):
            self._print((int(header.get("machine", 0)), x, y), text)
        for text in answer.get("warnings", ()):
            warnings.warn(text, RuntimeWarning, stacklevel=5)
        if "error" in answer:
            self.flush()
            if answer.get("kind") == "halt":
                raise ProgramHalted(answer["error"], answer.get("halt", {}))
            raise SdkRuntimeError(answer["error"])
        return answer, data

    def _print(self, spot: tuple[int, int, int], text: str) -> None:
        *lines, rest = (self._lines.get(spot, "") + text).split("\n")
        sys.stdout.writelines(f"{line}\n" for line in lines)
        self._lines[spot] = rest

    def flush(self) -> None:
        """Show what has no end of line yet."""
        for rest in self._lines.values():
            if rest:
                sys.stdout.write(f"{rest}\n")
        self._lines.clear()
        sys.stdout.flush()


CONNECTION = Connection()
"""Of this process."""
