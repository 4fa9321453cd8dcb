"""Sources and kernel records on disk, shared by every server of one home.

A source is stored under the SHA-256 of its exact files: the content hash of a submission is of
normalised text, so two different texts can share it. Everything is written to a temporary name,
synced, renamed, and its folder synced, so that a row that names a blob never outlives it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import heapq
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kernels.records import Kernel, Submission
from results_db.errors import BlobError, UnknownKernelError
from results_db.files import LedgerFiles, replace_file, sync_folder

_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BlobStore:
    """Thread-safe and process-safe: names are hashes or random, and renames are atomic."""

    def __init__(self, home: Path) -> None:
        self._folder = LedgerFiles(home).blobs

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """While this lasts nobody prunes: for what is stored before the row that names it."""
        with self._lock(fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def pruning(self) -> Iterator[None]:
        """While this lasts nothing is stored; waits until nothing is being stored."""
        with self._lock(fcntl.LOCK_EX):
            yield

    def put_source(self, submission: Submission) -> str:
        """Store the files of a submission; returns the SHA-256 that names them."""
        data = _dump({"files": dict(sorted(submission.files.items()))})
        digest = hashlib.sha256(data).hexdigest()
        _write(self._source_path(digest), data)
        return digest

    def put_kernel(self, kernel: Kernel) -> str:
        """Store a kernel and its source; returns the hash of the source."""
        path = self._kernel_path(kernel.kernel_id)
        submission = kernel.submission
        digest = self.put_source(submission)
        record = {
            "kernel_id": kernel.kernel_id,
            "task": submission.task,
            "target": submission.target,
            "parent": submission.parent,
            "agent": kernel.agent,
            "session": kernel.session,
            "source": digest,
        }
        _write(path, _dump(record))
        return digest

    def get_kernel(self, kernel_id: str) -> Kernel:
        """A kernel that any server of this home received.

        Raises: UnknownKernelError, BlobError if the stored text was changed.
        """
        path = self._kernel_path(kernel_id)
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise UnknownKernelError(_unknown(kernel_id)) from None
        return Kernel(
            kernel_id=record["kernel_id"],
            submission=Submission(
                task=record["task"],
                target=record["target"],
                files=self.get_source(record["source"]),
                parent=record["parent"],
            ),
            agent=record["agent"],
            session=record["session"],
        )

    def recent_kernels(self, agent: str, most: int) -> list[str]:
        """kernel_ids of an agent among the `most` that any agent stored last, the latest first."""
        try:
            with os.scandir(self._folder / "kernels") as entries:
                stored = [(one.stat().st_mtime_ns, one.name) for one in entries]
        except FileNotFoundError:
            return []
        names = [name for _, name in heapq.nlargest(most, stored) if name.endswith(".json")]
        found: list[str] = []
        for name in names:
            # Pruned since it was listed.
            with contextlib.suppress(FileNotFoundError):
                record = json.loads(self._kernel_path(Path(name).stem).read_bytes())
                if record["agent"] == agent:
                    found.append(str(record["kernel_id"]))
        return found

    def get_source(self, digest: str) -> dict[str, str]:
        """The files of a blob, checked against its name."""
        path = self._source_path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise BlobError(f"stored source {digest} is missing: {path}") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise BlobError(f"stored source was changed on disk, submit it again: {path}")
        files: dict[str, str] = json.loads(data)["files"]
        return files

    def has_kernel(self, kernel_id: str) -> bool:
        """Whether a kernel of that id is stored; costs a look at its name."""
        return self._kernel_path(kernel_id).is_file()

    def take_from(self, other: BlobStore) -> int:
        """Store whatever the other store has, kernels after their sources; how many were new.

        Raises: BlobError.
        """
        new = 0
        for pattern in ("sources/*/[!.]*.json", "kernels/[!.]*.json"):
            for path in sorted(other._folder.glob(pattern)):
                target = self._folder / path.relative_to(other._folder)
                if not target.exists():
                    _write(target, path.read_bytes())
                    new += 1
        return new

    def paths_of(self, kernel_id: str, digest: str) -> tuple[Path, Path]:
        """Where a kernel's record and its source are."""
        return self._kernel_path(kernel_id), self._source_path(digest)

    @contextlib.contextmanager
    def _lock(self, how: int) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._folder / "lock", flags, 0o644)
        except OSError as error:
            raise BlobError(f"can't lock {self._folder}: {error}") from error
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def _source_path(self, digest: str) -> Path:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise BlobError(f"not the name of a stored source: {digest!r}")
        return self._folder / "sources" / digest[:2] / f"{digest}.json"

    def _kernel_path(self, kernel_id: str) -> Path:
        if not _SAFE_ID.fullmatch(kernel_id):
            raise UnknownKernelError(_unknown(kernel_id))
        return self._folder / "kernels" / f"{kernel_id}.json"


def _unknown(kernel_id: str) -> str:
    return f"unknown kernel_id {kernel_id[:80]!r}: use one that compile_kernel returned"


def _dump(record: Mapping[str, object]) -> bytes:
    """ASCII: lone surrogates in a source survive as escapes."""
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode("ascii")


def _write(path: Path, data: bytes) -> None:
    try:
        if not _holds(path, data):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)
        # Also for what was there: whoever put it may not have come to this yet.
        sync_folder(path.parent)
    except OSError as error:
        raise BlobError(f"can't store {path}: {error}") from error


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False
