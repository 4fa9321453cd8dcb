"""One child process: its socket, its printed output, its deadline, its end.

Requests go out and replies come in here, in order, each within a deadline; whatever is not a proper
reply becomes a `ChildGone` with the reason. The reader decides what that means for a kernel.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from toolchains.child import wire

from .arenas import OUTPUT_BYTES, output_file, tail_of
from .boxes import KERNEL, SCRATCH_BYTES, Command, Isolation, Size
from .cgroups import Group
from .clock import children_of, parent_of, written_bytes

_CREDENTIALS = struct.Struct("iII")
_EXIT_WAIT_S = 5.0
_LOOK_S = 0.25
_MOST_WRITTEN = 1 << 30
"""Bytes in a child's whole life."""
_DUMP_S = 0.05
_MOST_GIVING_S = 120.0
"""`patience_s` of a child that needs compilers only."""


class ChildGone(Exception):
    """The child gave no proper reply: `reason` is timeout | exit | protocol | closed."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class ChildProcess:
    """A started child. Not thread-safe, except `kill`."""

    def __init__(self, isolation: Isolation, size: Size, program: str = KERNEL) -> None:
        """Start the program; raises OSError. Must run in a thread that outlives the child."""
        self._groups, self._size = isolation.doors.groups, size
        self._group: Group | None = None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The kernel of the operating system, not the child, tells the child's pid.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket, self._output = ours, output_file()
        self._seq = 0
        self.give: Callable[[bytes], bytes] | None = None
        """What answers a child that needs something in the middle of a request; None: nothing."""
        self.asked = 0
        """Of wire.CUDA and the like: what it is to be while it holds a submission."""
        self._needed = bytearray()
        self.patience_s = _MOST_GIVING_S
        """That what it needs may take beside its deadlines, in its whole life."""
        self.most_needed = wire.MOST_NEEDED
        """Bytes that it may ask for at once."""
        self._closed = False
        self._pid = self._init = 0
        self._pidfd = -1
        self._command: Command | None = None
        with theirs:
            try:
                self._command = isolation.command(theirs.fileno(), size, program)
                self._popen = subprocess.Popen(
                    self._command.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=self._output,
                    stderr=self._output,
                    pass_fds=(theirs.fileno(),),
                    env=dict(self._command.environment),
                    start_new_session=True,
                )
            except OSError:
                self._free()
                raise

    @property
    def pid(self) -> int:
        """Process id as this host sees it; 0 before `wait_ready`."""
        return self._pid

    def wait_ready(self, deadline_s: float) -> None:
        """Wait for the imports and the warm-up; raises ChildGone."""
        if not self._poll(time.monotonic() + deadline_s):
            raise ChildGone("timeout", f"not ready after {deadline_s:.0f} s")
        message, ancillary, _, _ = self._socket.recvmsg(1 << 16, socket.CMSG_SPACE(16))
        if not message:
            raise self._gone()
        for _, kind, data in ancillary:
            if kind == socket.SCM_CREDENTIALS:
                self._pid, _, _ = _CREDENTIALS.unpack(data[: _CREDENTIALS.size])
        try:
            # A process id may be another's later; this handle stays its own.
            self._pidfd = os.pidfd_open(self._pid)
        except OSError as error:
            raise self._gone() from error
        parent = parent_of(self._pid)
        # Orphans go to the namespace's first process, or from a plain child to the host's.
        self._init = 0 if parent == os.getpid() else parent
        self._enter_group()
        # Under memory pressure the operating system should pick a kernel, not the server.
        with contextlib.suppress(OSError):
            Path(f"/proc/{self._pid}/oom_score_adj").write_text("1000")

    def _enter_group(self) -> None:
        """Before any submission is loaded: all that it starts is then in the same group."""
        if self._groups is None:
            return
        try:
            self._group = self._groups.make(
                self._size.memory_bytes + SCRATCH_BYTES, self._size.tasks + self._size.threads
            )
            self._group.add(self._pid)
        except OSError as error:
            raise ChildGone("exit", f"its control group can't be made: {error}") from error

    def strays(self) -> bool:
        """Whether processes exist that the kernel started: children, or orphans of theirs."""
        if children_of(self._pid):
            return True
        return self._init != 0 and children_of(self._init) != (self._pid,)

    def next_seq(self) -> int:
        """Number of the next request; raises ChildGone if a reply lies there that nobody asked for.

        Such a one would be there the moment its request is sent, without the time that it takes.
        """
        with contextlib.suppress(OSError):
            if self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                raise ChildGone("protocol", "a reply before its request")
        self._seq += 1
        return self._seq

    def send(self, message: bytes, fds: Sequence[int] = ()) -> None:
        """Send one request; raises ChildGone if the child has ended, or leaves requests unread."""
        try:
            socket.send_fds(self._socket, [message], list(fds), socket.MSG_DONTWAIT)
        except BlockingIOError as error:
            raise ChildGone("protocol", "replies without reading its requests") from error
        except OSError as error:
            raise self._gone() from error

    def receive(self, deadline: float) -> tuple[wire.Kind, bytes]:
        """The reply to the last request, by `time.monotonic()` deadline; raises ChildGone."""
        while True:
            if not self._poll(deadline):
                raise ChildGone("timeout", "no reply before the deadline")
            reply = self._read(0)
            if reply[0] is not wire.Kind.NEEDS:
                return reply
            deadline += self._given(reply[1])

    def receive_spinning(self, until: float) -> tuple[wire.Kind, bytes] | None:
        """The reply if it comes before `until`, watched without sleeping; else None."""
        while True:
            try:
                reply = self._read(socket.MSG_DONTWAIT)
            except BlockingIOError:
                if time.monotonic() > until:
                    return None
                continue
            if reply[0] is not wire.Kind.NEEDS:
                return reply
            self._given(reply[1])

    def _given(self, message: bytes) -> float:
        """Answer what the child needs; seconds that this took, which are not the kernel's."""
        if self.give is None:
            raise ChildGone("protocol", "asks for what it can't need")
        _, _, more = wire.HEAD.unpack_from(message)
        self._needed += message[wire.HEAD.size :]
        if len(self._needed) > self.most_needed:
            raise ChildGone("protocol", "asks for too much at once")
        if more:
            return 0.0
        asked, self._needed = bytes(self._needed), bytearray()
        start = time.monotonic()
        answer = self.give(asked)
        fd = os.memfd_create("given", os.MFD_CLOEXEC)
        with os.fdopen(fd, "wb") as file:
            file.write(answer)
            file.flush()
            file.seek(0)
            self.send(wire.HEAD.pack(self._seq, wire.Op.GIVEN, 0), [fd])
        took = min(time.monotonic() - start, self.patience_s)
        self.patience_s -= took
        return took

    def _read(self, flags: int) -> tuple[wire.Kind, bytes]:
        try:
            message = self._socket.recv(1 << 16, flags)
        except BlockingIOError:
            raise
        except OSError as error:
            raise self._gone() from error
        if not message:
            raise self._gone()
        try:
            seq, kind, _ = wire.HEAD.unpack_from(message)
            if seq != self._seq:
                raise ChildGone("protocol", "a reply to another request")
            return wire.Kind(kind), message
        except (struct.error, ValueError) as error:
            raise ChildGone("protocol", f"a malformed reply: {error}") from error

    def _poll(self, deadline: float) -> bool:
        poller = select.poll()
        try:
            poller.register(self._socket, select.POLLIN)
        except ValueError as error:
            raise ChildGone("closed", "the child was killed") from error
        if self._pidfd >= 0:
            # A process that it started may hold the socket open after its end.
            poller.register(self._pidfd, select.POLLIN)
        # A scratch folder on a disk has no size of its own: what goes there is looked at meanwhile.
        bounded = self._command is None or self._command.scratch is None
        while True:
            left = max(0.0, deadline - time.monotonic())
            ready = [fd for fd, _ in poller.poll((left if bounded else min(left, _LOOK_S)) * 1000)]
            if ready == [self._pidfd]:
                raise self._gone()
            if ready:
                return True
            if bounded or left <= _LOOK_S:
                return False
            self._require_few_written()

    def _require_few_written(self) -> None:
        written = written_bytes(self._pid)
        if written > _MOST_WRITTEN:
            self.kill()
            raise ChildGone("exit", f"it wrote {written >> 20} MiB to files, and was killed")

    def _gone(self) -> ChildGone:
        if self._closed:
            return ChildGone("closed", "the child was killed")
        try:
            code = self._popen.wait(_EXIT_WAIT_S)
        except subprocess.TimeoutExpired:
            return ChildGone("exit", "its process closed the connection")
        return ChildGone("exit", _exit_text(code))

    def printed(self) -> str:
        """Tail of what it wrote to stdout and stderr."""
        return "" if self._closed else tail_of(self._output)

    def output(self) -> str:
        """All that it wrote to stdout and stderr."""
        return "" if self._closed else tail_of(self._output, OUTPUT_BYTES)

    def dump_stack(self) -> None:
        """Have the child write where it is to its output, if it can, before it is killed."""
        with contextlib.suppress(OSError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGUSR1)
                time.sleep(_DUMP_S)

    def alive(self) -> bool:
        """Whether the process runs and was not killed."""
        return not self._closed and self._popen.poll() is None

    def stop(self) -> None:
        """Let none of its threads run until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Undo `stop`."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, number)

    def kill(self) -> None:
        """End the process and all it started. Idempotent, and safe while another thread waits."""
        with contextlib.suppress(OSError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._popen.poll() is None:
                os.killpg(self._popen.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Kill, wait for the end, and free what it held."""
        if self._closed:
            return
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_EXIT_WAIT_S)
        if self._pidfd >= 0:
            # Bubblewrap's outer process ends before what is in the sandbox has.
            poller = select.poll()
            poller.register(self._pidfd, select.POLLIN)
            poller.poll(_EXIT_WAIT_S * 1000)
        self._closed = True
        self._free()

    def _free(self) -> None:
        self._socket.close()
        os.close(self._output)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._groups is not None and self._group is not None:
            self._group.kill()
            self._groups.remove(self._group)
        if self._command is not None and self._command.scratch is not None:
            self._command.scratch.remove()


def _exit_text(code: int) -> str:
    # A shell, and bubblewrap, report death by signal N as exit code 128 + N.
    number = -code if code < 0 else code - 128
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(number).name}"
    return f"its process exited with code {code} without replying"
