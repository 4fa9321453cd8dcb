"""From what an agent sent (inline files, or a folder under a root) to the files of a Submission.

Text and paths flow in; a name → text mapping that keeps the limits of a submission flows out, or
`ArgumentProblems` with every problem found.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sz_mcp.errors import ArgumentProblems
from sz_mcp.settings import Limits

ENTRY = "kernel.py"
_IGNORED = frozenset({"__pycache__"})
_MOST_BRACES = 4000
"""In one file. Python 3.11 takes time with the square of what an f-string holds in braces: for a
source of 256 KiB, half a minute in which this process does nothing else."""


def problems_of_files(files: Mapping[str, str], limits: Limits) -> tuple[str, ...]:
    """Every way in which `files` is not a submission; empty if it is one."""
    found = [problem for name in files for problem in _problems_of_name(name)]
    if len(files) > limits.files:
        found.append(f"{len(files)} files: a submission has at most {limits.files}")
    if ENTRY not in files:
        sent = ", ".join(map(repr, sorted(files)[:8])) or "none"
        found.append(f"no {ENTRY!r} among the files ({sent}): it holds the functions of the task")
    total = 0
    for name, text in files.items():
        total += len(text.encode(errors="replace"))
        found += _problems_of_text(name, text)
    if total > limits.source_bytes:
        found.append(f"{total} bytes of source: a submission has at most {limits.source_bytes}")
    return tuple(found)


def _problems_of_text(name: str, text: str) -> Iterator[str]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        yield f"{name!r} is not valid Unicode text at character {error.start}"
    if text.count("{") > _MOST_BRACES:
        yield f"{name!r} holds more than {_MOST_BRACES} opening braces"
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        yield f"{name!r} holds a NUL character in line {line}"


def _problems_of_name(name: str) -> Iterator[str]:
    if not name or name.startswith("."):
        yield f"file name {name!r}: must not be empty or start with a dot"
    if any(character in "/\\" or not character.isprintable() for character in name):
        yield f"file name {name!r}: must have no separators or control characters (no subfolders)"
    if len(name.encode("utf-8", "surrogatepass")) > 128:
        yield f"file name {name[:20]!r}…: longer than 128 bytes"


def folder_under_roots(path: str, roots: tuple[Path, ...]) -> Path:
    """The real folder that `path` names, which must lie under one of `roots`.

    Raises:
        ArgumentProblems: it doesn't exist, is no folder, or lies elsewhere once links are followed.
    """
    if not roots:
        raise ArgumentProblems(
            "this server was started without --root, so it reads no paths: send `files` instead"
        )
    allowed = ", ".join(map(str, roots))
    if "\0" in path:
        raise ArgumentProblems("a path must not contain NUL")
    try:
        candidate = Path(path).expanduser()
        real = (candidate if candidate.is_absolute() else roots[0] / candidate).resolve()
        exists = real.exists()
    except (OSError, RuntimeError) as error:
        shown = path if len(path) <= 200 else f"{path[:200]}…"
        raise ArgumentProblems(
            f"{shown!r} is no usable path ({error}); roots: {allowed}"
        ) from error
    if not _is_under(real, roots):
        raise ArgumentProblems(f"{path!r} is not under a root of this server; roots: {allowed}")
    if real.is_file():
        raise ArgumentProblems(f"{path!r} is a file: name the folder that holds {ENTRY}")
    if not exists or not real.is_dir():
        raise ArgumentProblems(f"there is no folder {path!r}; roots: {allowed}")
    return real


def read_folder(folder: Path, roots: tuple[Path, ...], limits: Limits) -> dict[str, str]:
    """The files of a submission's folder; hidden files and `__pycache__` are left out.

    What was opened is checked, not what was named, so a link swapped in meanwhile can't escape.

    Raises:
        ArgumentProblems: a file lies outside the roots, is no regular file, is not UTF-8, or the
            whole breaks a limit.
    """
    files: dict[str, str] = {}
    problems: list[str] = []
    with _opened(folder, os.O_DIRECTORY) as at:
        if not _is_under(_path_of(at), roots):
            raise ArgumentProblems(f"{str(folder)!r} is not under a root of this server")
        with os.scandir(at) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            if name.startswith(".") or name in _IGNORED:
                continue
            if len(files) > limits.files:
                break
            try:
                files[name] = _read_file(name, at, roots, limits)
            except ArgumentProblems as error:
                problems += error.problems
    problems += problems_of_files(files, limits)
    if problems:
        raise ArgumentProblems(*problems)
    return files


def _read_file(name: str, folder: int, roots: tuple[Path, ...], limits: Limits) -> str:
    try:
        with _opened(name, os.O_NONBLOCK, folder) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ArgumentProblems(f"{name!r} is no regular file: there are no subfolders")
            if not _is_under(_path_of(descriptor), roots):
                raise ArgumentProblems(f"{name!r} is a link that leads outside the server's roots")
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                return stream.read(limits.source_bytes + 1).decode()
    except UnicodeDecodeError as error:
        raise ArgumentProblems(f"{name!r} is not UTF-8 text at byte {error.start}") from error
    except OSError as error:
        raise ArgumentProblems(f"{name!r} can't be read: {error.strerror}") from error


@contextmanager
def _opened(path: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _path_of(descriptor: int) -> Path:
    """The real path of an open file, whatever name it was opened by."""
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def _is_under(path: Path, roots: tuple[Path, ...]) -> bool:
    return any(path == root or root in path.parents for root in roots)
