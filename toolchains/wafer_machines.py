"""The machine of one child: a process that simulates, and what the child asks of it.

The submission's host part runs in the child and asks through the server; programs are compiled in a
box, and the machine counts cycles where the submission can't reach it.
"""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulators.wafer.costs import Profile
from simulators.wafer.profiles import make_profile
from simulators.wafer.program_files import ProgramFileError, load_program
from simulators.wafer.protocol import ProtocolError, pack, receive, send, unpack
from toolchains.device_use import DeviceUse
from toolchains.wafer_flow import Traffic

REQUEST_S = 45.0
"""One request of a host, such as a launch that it waits for."""
_LOAD_S = 300.0
"""The first program of an installation: the machine itself is compiled then."""
_EXIT_S = 2.0
_FABRICS = {"wse2": (750, 994), "wse3": (762, 1172)}
"""Columns and rows that a program can use (csl-examples; arXiv 2608.25124)."""

_DIGITS = 10
"""Of a number of 32 bits."""

Compile = Callable[[str, list[str]], "Made"]
"""main file, options → what came of it"""


@dataclass(frozen=True)
class Made:
    """What came of a compilation."""

    folder: Path | None = None
    """Where the program is; None: it did not compile."""
    diagnostics: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    """For the host part; its diagnostics as text."""
    stopped: str = ""
    """Where the compiler stopped: see `toolchains.csl.compiler.Stopped`."""


@dataclass
class Seen:
    """What one child did, for the session."""

    traffic: Traffic = field(default_factory=Traffic)
    cycles: int = 0
    halt: str = ""
    """Of the last program that stopped by a mistake of its own."""
    lost: str = ""
    """Why the machine ended, and the count of its cycles with it; the call can't succeed."""


class WaferMachine:
    """Answers one child. Not thread-safe, except `kill`."""

    def __init__(self, compile_: Compile, arch: str, *, profiled: bool = False) -> None:
        """profiled: what the machine counts by cause is in `profiles` after each call."""
        self._profiled = profiled
        self.profiles: list[Mapping[str, Any]] = []
        self._compile, self._arch = compile_, arch
        self._profile: Profile = make_profile(arch)
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._folders: dict[str, Path] = {}
        self._lock = threading.Lock()
        self._killed = False
        self.seen = Seen()
        self._machines: dict[int, int] = {}
        """Number of a loaded program → its cycles when last asked."""

    def give(self, asked: bytes) -> bytes:
        """The answer to one request."""
        try:
            header, payload = unpack(asked)
        except ProtocolError as problem:
            return pack({"error": str(problem), "kind": "use"})
        if header.get("do") == "compile":
            return pack(self._compiled(header))
        return self._forwarded(dict(header), payload)

    def _compiled(self, header: Mapping[str, Any]) -> Mapping[str, Any]:
        options = shlex.split(str(header.get("options", "")))
        if not any(one.startswith("--arch") for one in options):
            options.append(f"--arch={self._arch}")
        self.seen.traffic.arguments += _values_of(options)
        made = self._compile(str(header.get("main", "")), options)
        if made.folder is None:
            return {"error": made.error, "kind": "use"}
        self._folders[made.folder.name] = made.folder
        return {"name": made.folder.name}

    def _forwarded(self, header: dict[str, Any], payload: bytes) -> bytes:
        if header.get("do") == "load":
            folder = self._folders.get(Path(str(header.get("name", ""))).name)
            if folder is None:
                text = "SdkRuntime takes what SdkCompiler.compile returned"
                return pack({"error": text, "kind": "use"})
            wrong = self._wrong_arch(folder)
            if wrong:
                return pack({"error": wrong, "kind": "use"})
            header["name"] = str(folder)
            header["profiled"] = self._profiled
        answer, data = self._exchange(header, payload)
        self._note(header, payload, answer, data)
        return pack(answer, data)

    def _wrong_arch(self, folder: Path) -> str:
        try:
            program = load_program(folder / "bin")
        except ProgramFileError as problem:
            return str(problem)
        self.seen.traffic.rows = max(self.seen.traffic.rows, program.height)
        self.seen.traffic.columns = max(self.seen.traffic.columns, program.width)
        if program.arch != self._arch:
            return f"the program is for {program.arch}, the target is wafer:{self._arch}"
        return ""

    def _exchange(
        self, header: Mapping[str, Any], payload: bytes
    ) -> tuple[Mapping[str, Any], bytes]:
        if self.seen.lost:
            return {"error": self.seen.lost, "kind": "use"}, b""
        try:
            connection = self._connection()
            connection.settimeout(_LOAD_S if header.get("do") == "load" else REQUEST_S)
            send(connection, header, payload)
            answer = receive(connection)
        except TimeoutError:
            self.close()
            self.seen.lost = f"the simulation of one request took more than {REQUEST_S:.0f} s"
        except (OSError, ProtocolError) as problem:
            self.close()
            self.seen.lost = f"the machine has ended: {problem}"
        else:
            if answer is not None:
                return answer
            self.seen.lost = "the machine has ended"
        return {"error": self.seen.lost, "kind": "use"}, b""

    def _connection(self) -> socket.socket:
        with self._lock:
            if self._killed:
                raise OSError("the kernel was killed")
            if self._socket is None:
                ours, theirs = socket.socketpair()
                with theirs:
                    command = [sys.executable, "-P", "-m", "simulators.wafer.serving"]
                    self._process = subprocess.Popen(
                        [*command, str(theirs.fileno())], pass_fds=(theirs.fileno(),)
                    )
                self._socket = ours
            return self._socket

    def _note(
        self, header: Mapping[str, Any], payload: bytes, answer: Mapping[str, Any], data: bytes
    ) -> None:
        """Keep what the session wants to know of a request that was done."""
        traffic = self.seen.traffic
        do = header.get("do")
        if do in ("h2d", "send"):
            traffic.to_device.append(payload)
        if data:
            traffic.to_host.append(data)
        if header.get("bits") == 16:
            traffic.narrow = True
        if do == "launch":
            traffic.arguments += len(header.get("arguments", ()))
        if do == "load" and isinstance(answer.get("machine"), int):
            self._machines[answer["machine"]] = 0
        if answer.get("kind") == "halt":
            self.seen.halt = str(answer.get("error", ""))

    def begin(self) -> None:
        """A call begins: what was loaded before is gone, since its cycles are not this call's."""
        self.seen = Seen()
        self.profiles = []
        self._machines.clear()
        self._forget()

    def end(self) -> DeviceUse | None:
        """A call has ended: what it took; None if it used no device."""
        if self._socket is None or not self._machines:
            return None
        cycles = 0
        for number in self._machines:
            answer, _ = self._exchange({"do": "cycles", "machine": number}, b"")
            cycles += int(answer.get("cycles", 0))
            if self._profiled:
                _, counted = self._exchange({"do": "profile", "machine": number}, b"")
                self.profiles += [json.loads(counted)] if counted else []
        self._forget()
        traffic = self.seen.traffic
        return DeviceUse(
            cycles=cycles,
            columns=traffic.columns,
            rows=traffic.rows,
            words_in=sum(map(len, traffic.to_device)) // 4,
            words_out=sum(map(len, traffic.to_host)) // 4,
            clock_hz=self._profile.clock_hz,
            fabric=_FABRICS[self._arch],
            model=f"hop {self._profile.hop}, exact contention, least recently moved",
        )

    def _forget(self) -> None:
        """Loaded programs; a machine that is not there yet has none."""
        if self._socket is not None:
            self._exchange({"do": "forget"}, b"")

    def kill(self) -> None:
        """End the process at once; from any thread."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process and wait for it. It starts again when it is asked something."""
        with self._lock:
            connection, process = self._socket, self._process
            self._socket = self._process = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait(_EXIT_S)


class ProgramFolder:
    """Compiled programs of a server, by what they are made of. Thread-safe."""

    def __init__(self) -> None:
        self._root: Path | None = None
        self._lock = threading.Lock()

    def place(self, key: str) -> Path:
        """The folder of a program; its parent exists."""
        with self._lock:
            if self._root is None:
                self._root = Path(tempfile.mkdtemp(prefix="sz-mcp-wafer-"))
            return self._root / key

    def close(self) -> None:
        """Remove all of it."""
        with self._lock:
            if self._root is not None:
                shutil.rmtree(self._root, ignore_errors=True)
            self._root = None


def _values_of(options: Sequence[str]) -> int:
    """Numbers of 32 bits that the options of a program can carry to it."""
    given = [one.partition("=")[2] for one in options if one.startswith("--params")]
    values = [pair.partition(":")[2] for one in given for pair in one.split(",")]
    return sum(-(-len(value) // _DIGITS) for value in values)


def diagnostics_of(answer: bytes) -> tuple[Mapping[str, Any], ...]:
    """Of a compilation's answer file."""
    found = json.loads(answer)
    return tuple(found.get("diagnostics", ()))
