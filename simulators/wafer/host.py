"""What a program's host can ask of a machine: one method per request of the protocol.

Answers are objects for JSON and raw bytes; failures are answers with `error` (a text for people)
and `kind`: `use` (the host asked for what can't be done), `halt` (the program stopped) or `file`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .host_copies import (
    Rectangle,
    Target,
    UseError,
    arguments_of,
    checked_rectangle,
    class_at,
    copy_in,
    copy_out,
    export_of,
)
from .host_session import Device, Entry, ProgramHaltedError, Session, Spot, Stopped
from .program import ExportKind, Program, Region
from .program_files import ProgramFileError, load_program
from .protocol import Header
from .trace import key_number, printed_text, traced_value

Answer = tuple[Header, bytes]
_WIDTHS: Mapping[int, np.dtype[Any]] = {16: np.dtype("<u2"), 32: np.dtype("<u4")}


@dataclass
class Host:
    """Machines of one host by number, and how they are made."""

    make: Callable[[Program], Device]
    open: Callable[[str], Program] = field(default=lambda name: load_program(Path(name) / "bin"))
    """The program by the name that the host has for it. Raises ProgramFileError."""
    make_profiled: Callable[[Program], Device] | None = None
    """Of a machine that counts cycles by cause."""
    profile: Callable[[Device], Mapping[str, object]] | None = None
    """What such a machine counted, for JSON."""
    sessions: dict[int, Session] = field(default_factory=dict)
    _traced: dict[int, list[Entry]] = field(default_factory=dict)
    """What <debug> recorded, by machine."""
    _warnings: list[str] = field(default_factory=list)
    """For the next answer, which says the first of them."""

    def answer(self, header: Header, payload: bytes) -> Answer:
        """Do one request."""
        try:
            handler = _REQUESTS.get(str(header.get("do")))
            if handler is None:
                raise UseError(f"there is no request {header.get('do')!r}")
            reply, data = handler(self, header, payload)
        except ProgramHaltedError as problem:
            reply = {"error": str(problem), "kind": "halt", "halt": _details(problem.outcome)}
            data = b""
        except UseError as problem:
            reply, data = {"error": str(problem), "kind": "use"}, b""
        except ProgramFileError as problem:
            reply, data = {"error": str(problem), "kind": "file"}, b""
        except (KeyError, TypeError, ValueError) as problem:
            reply, data = {"error": f"a bad request: {problem!r}", "kind": "use"}, b""
        extras = {"printed": self._printed(header), "warnings": self._warnings[:1]}
        self._warnings.clear()
        return {**reply, **{key: value for key, value in extras.items() if value}}, data

    def warn(self, text: str) -> None:
        """Have the answer to the present request say something."""
        self._warnings.append(text)

    def _printed(self, header: Header) -> list[list[Any]]:
        """What was printed since the last answer, as (cycle, x, y, text)."""
        number = header.get("machine")
        session = self.sessions.get(number) if isinstance(number, int) else None
        if session is None or not isinstance(number, int):
            return []
        new = session.device.logged()
        self._traced.setdefault(number, []).extend(one for one in new if one.buffer >= 0)
        program = session.device.program
        return [[one.cycle, one.x, one.y, _text(program, one)] for one in new if one.buffer < 0]

    def traced(self, header: Header) -> Sequence[Entry]:
        """What <debug> recorded so far, oldest first."""
        return self._traced.get(header["machine"], [])

    def session(self, header: Header) -> Session:
        """That of the machine that a request names. Raises UseError."""
        found = self.sessions.get(header["machine"])
        if found is None:
            raise UseError(f"there is no machine {header['machine']}: load a program first")
        return found


def _text(program: Program, one: Entry) -> str:
    return printed_text(one.kind, one.value, class_at(program, one.x, one.y).texts)


def _details(outcome: Stopped) -> Mapping[str, Any]:
    """What a program's end is known of, for JSON."""
    if outcome.halt is not None:
        return asdict(outcome.halt) | {"kind": outcome.halt.kind.name.lower()}
    silent = outcome.hang.silent if outcome.hang is not None else ()
    return {"kind": "deadlock", "text": outcome.text, "silent": [list(spot) for spot in silent]}


def _load(host: Host, header: Header, _payload: bytes) -> Answer:
    program = host.open(str(header["name"]))
    number = len(host.sessions) + 1
    make = host.make_profiled if header.get("profiled") else host.make
    if make is None:
        raise UseError("this host has no machine that profiles")
    host.sessions[number] = Session(make(program))
    exports = [
        {"id": one.id, "name": one.name, "kind": one.kind.value, "type": one.type}
        for one in program.exports
    ]
    streams = [{"color": one.color, "to_host": one.to_host} for one in program.streams]
    about = {
        "machine": number,
        "arch": program.arch,
        "width": program.width,
        "height": program.height,
        "offset": list(program.offset),
        "fabric": list(program.fabric),
        "memcpy": program.memcpy,
        "exports": exports,
        "streams": streams,
    }
    return about, b""


def _finish(session: Session, ticket: int, header: Header) -> Answer:
    """The answer to a command: its ticket, or what it gave if the host waits."""
    if header.get("nonblock"):
        return {"ticket": ticket}, b""
    return {"ticket": ticket, "done": True}, session.wait(ticket)


def _where(session: Session, header: Header) -> Rectangle:
    return checked_rectangle(session.device.program, header["rectangle"])


def _target(session: Session, header: Header) -> Target:
    export = export_of(session.device.program, header["symbol"])
    if export.kind is ExportKind.FUNCTION:
        raise UseError(f'"{export.name}" is a function: launch("{export.name}", …) starts it')
    if header["do"] == "h2d" and not export.mutable:
        raise UseError(f'"{export.name}" can\'t be written: its @export_name says false')
    return Target(export, int(header["count"]) * int(header["bits"]) // 8)


def _h2d(host: Host, header: Header, payload: bytes) -> Answer:
    session = host.session(header)
    where, target = _where(session, header), _target(session, header)
    rows = _rows(where, header, payload, _WIDTHS[header["bits"]])

    def act() -> bytes:
        copy_in(session.device, target, where, rows)
        return b""

    return _finish(session, session.submit(act), header)


def _rows(
    where: Rectangle, header: Header, payload: bytes, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """A row of values for each PE; one for a whole row or column of PEs is repeated."""
    spread = header.get("spread")
    height = 1 if spread == "column" else where.height
    width = 1 if spread == "row" else where.width
    count = int(header["count"])
    given = np.frombuffer(payload, dtype)
    if given.size != height * width * count:
        raise UseError(f"{given.size} values for {height * width} PEs of {count} each")
    shape = (where.height, where.width, count)
    return np.broadcast_to(given.reshape(height, width, count), shape).reshape(-1, count)


def _d2h(host: Host, header: Header, _payload: bytes) -> Answer:
    session = host.session(header)
    where, target = _where(session, header), _target(session, header)
    ticket = session.submit(lambda: copy_out(session.device, target, where, host.warn))
    return _finish(session, ticket, header)


def _color(session: Session, header: Header, *, to_host: bool) -> int:
    """A streaming colour of the right direction. Raises UseError."""
    color = int(header["color"])
    streams = session.device.program.streams
    if any(one.color == color and one.to_host == to_host for one in streams):
        return color
    names = ", ".join(str(one.color) for one in streams if one.to_host == to_host) or "none"
    way = "to the host" if to_host else "from the host"
    where = "MEMCPYD2H_1" if to_host else "MEMCPYH2D_1"
    raise UseError(
        f"colour {color} is not a stream {way} (this program's: {names}): give it to"
        f" <memcpy/get_params> as .{where}"
    )


def _send(host: Host, header: Header, payload: bytes) -> Answer:
    session = host.session(header)
    color, where = _color(session, header, to_host=False), _where(session, header)
    rows = _rows(where, header, payload, _WIDTHS[32])

    def act() -> bytes:
        for row, (x, y) in zip(rows, where.spots(), strict=True):
            session.device.send(color, x, y, row.tolist())
        return b""

    return _finish(session, session.submit(act, stream=True), header)


def _receive(host: Host, header: Header, _payload: bytes) -> Answer:
    session = host.session(header)
    color, where = _color(session, header, to_host=True), _where(session, header)
    ticket = session.receive(color, tuple(where.spots()), int(header["count"]))
    return _finish(session, ticket, header)


def _launch(host: Host, header: Header, _payload: bytes) -> Answer:
    session = host.session(header)
    exports = {one.name: one for one in session.device.program.exports}
    export = exports.get(header["name"])
    if export is None or export.kind is not ExportKind.FUNCTION:
        functions = [n for n, one in exports.items() if one.kind is ExportKind.FUNCTION]
        known = ", ".join(functions) or "none"
        raise UseError(f'there is no function "{header["name"]}" to launch; there are: {known}')
    bits = arguments_of(export, header.get("arguments", ()))

    def act() -> bytes:
        session.device.launch(export.name, bits)
        return b""

    return _finish(session, session.submit(act), header)


def _wait(host: Host, header: Header, _payload: bytes) -> Answer:
    return {"done": True}, host.session(header).wait(int(header["ticket"]))


def _stop(host: Host, header: Header, _payload: bytes) -> Answer:
    session = host.session(header)
    session.stop()
    return {"cycles": session.device.cycle}, b""


def _cycles(host: Host, header: Header, _payload: bytes) -> Answer:
    return {"cycles": host.session(header).device.cycle}, b""


def _profile(host: Host, header: Header, _payload: bytes) -> Answer:
    """What a machine that was loaded with `profiled` counted, as the payload: it may be long."""
    if host.profile is None:
        raise UseError("this host has no machine that profiles")
    return {}, json.dumps(host.profile(host.session(header).device)).encode()


def _forget(host: Host, _header: Header, _payload: bytes) -> Answer:
    """Free all machines of this host."""
    host.sessions.clear()
    return {}, b""


def _read(host: Host, header: Header, _payload: bytes) -> Answer:
    """All of a variable of one PE, by its name in CSL."""
    device, (x, y), region = _variable(host, header)
    return {"type": region.type}, device.read(x, y, region.address, region.bytes)


def _write(host: Host, header: Header, payload: bytes) -> Answer:
    """All of a variable of one PE, before the program runs: SdkLayout's set_symbol_all."""
    device, (x, y), region = _variable(host, header)
    if len(payload) != region.bytes:
        raise UseError(
            f"{len(payload)} bytes are given for `{region.name}: {region.type}` at PE ({x}, {y}),"
            f" which has {region.bytes}"
        )
    device.write(x, y, region.address, payload)
    return {}, b""


def _variable(host: Host, header: Header) -> tuple[Device, Spot, Region]:
    """A variable of one PE, by its name in CSL. Raises UseError."""
    device = host.session(header).device
    x, y, name = int(header["x"]), int(header["y"]), str(header["name"])
    checked_rectangle(device.program, (x, y, 1, 1))
    regions = {region.name: region for region in class_at(device.program, x, y).regions}
    region = regions.get(name)
    if region is None:
        known = ", ".join(list(regions)[:12]) or "none"
        raise UseError(f"PE ({x}, {y}) has no variable `{name}` in memory; it has: {known}")
    return device, (x, y), region


def _traces(host: Host, header: Header, _payload: bytes) -> Answer:
    """What <debug> recorded at one PE under a key, oldest first."""
    device = host.session(header).device
    x, y, key = int(header["x"]), int(header["y"]), str(header["key"])
    checked_rectangle(device.program, (x, y, 1, 1))
    one = class_at(device.program, x, y)
    number = key_number(one, key)
    values = [
        traced_value(entry.kind, entry.value, one.texts)
        for entry in host.traced(header)
        if (entry.x, entry.y, entry.buffer) == (x, y, number)
    ]
    return {"values": values}, b""


_REQUESTS: Mapping[str, Callable[[Host, Header, bytes], Answer]] = {
    "load": _load,
    "h2d": _h2d,
    "d2h": _d2h,
    "send": _send,
    "receive": _receive,
    "launch": _launch,
    "wait": _wait,
    "stop": _stop,
    "cycles": _cycles,
    "forget": _forget,
    "profile": _profile,
    "read": _read,
    "write": _write,
    "traces": _traces,
}
