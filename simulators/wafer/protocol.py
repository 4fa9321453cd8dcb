"""Messages between a program's host and its machine: a header in JSON and raw bytes after it.

A message is two lengths (u32, little-endian), the header, the payload. The host's side is
toolchains/child/shims/cerebras/_link.py, which can import nothing of this package.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

Header = Mapping[str, Any]

_SIZES = struct.Struct("<II")
_MOST = 1 << 31
"""Bytes of a payload."""


class ProtocolError(Exception):
    """What came isn't a message."""


def pack(header: Header, payload: bytes = b"") -> bytes:
    """A message as bytes."""
    text = json.dumps(header).encode()
    return b"".join((_SIZES.pack(len(text), len(payload)), text, payload))


def unpack(message: bytes) -> tuple[Header, bytes]:
    """A message from its bytes. Raises ProtocolError."""
    if len(message) < _SIZES.size:
        raise ProtocolError("a message is cut short")
    head, body = _SIZES.unpack_from(message)
    if len(message) != _SIZES.size + head + body:
        raise ProtocolError("a message has another length than it says")
    return _header(message[_SIZES.size : _SIZES.size + head]), message[_SIZES.size + head :]


def send(connection: socket.socket, header: Header, payload: bytes = b"") -> None:
    """Write a message to a stream."""
    connection.sendall(pack(header, payload))


def receive(connection: socket.socket) -> tuple[Header, bytes] | None:
    """Read a message from a stream; None at its end. Raises ProtocolError."""
    sizes = _exactly(connection, _SIZES.size)
    if not sizes:
        return None
    head, body = _SIZES.unpack(sizes)
    if body > _MOST:
        raise ProtocolError(f"a payload of {body} bytes is too long")
    header = _header(_exactly(connection, head))
    return header, _exactly(connection, body)


def _exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes; none at the end of the stream."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(count - len(parts), 1 << 20))
        if not part:
            if parts:
                raise ProtocolError("the stream ends within a message")
            return b""
        parts += part
    return bytes(parts)


def _header(text: bytes) -> Header:
    try:
        header = json.loads(text)
    except ValueError as problem:
        raise ProtocolError(f"a header isn't JSON: {problem}") from problem
    if not isinstance(header, dict):
        raise ProtocolError("a header isn't an object")
    return header
