"""What the server calls to record an event: records in, one durable journal line out.

Nothing here opens the database, so recording costs a write and a sync whatever readers and drains
are doing. Every method returns only after its event is on disk, or raises JournalError.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from kernels.records import Build, Guidance, Kernel, Profile, RunResult, Verdict
from results_db import events
from results_db.blobs import BlobStore
from results_db.journal import Journal
from results_db.rows import (
    BenchCellRow,
    BenchRow,
    BuildRow,
    CallRow,
    HostRow,
    MarkRow,
    ProfileRow,
    Row,
    RunFinishedRow,
    RunStartedRow,
    SessionRow,
    UsageRow,
    VerdictRow,
)
from results_db.statistics import Compared

_RESULTS = (BuildRow, RunFinishedRow, VerdictRow, ProfileRow)
"""Rows that the harness decided."""


class Ledger:
    """The ledger as one server process sees it. Thread-safe."""

    def __init__(self, home: Path, *, writer: str) -> None:
        """`writer` names the process in every row, such as `stdio`, `http` or `eval`."""
        self._writer = writer
        self._journal = Journal(home)
        self._blobs = BlobStore(home)
        self._host = ""
        self._harness: str | None = None

    def session(self, row: SessionRow) -> None:
        """An agent's session began."""
        self._append(row)

    def host(self, row: HostRow) -> None:
        """The machine, as probed at start.

        Rows written from now on carry its fingerprint, and results the digest of the harness.
        """
        self._host, self._harness = row.fingerprint, row.harness
        self._append(row)

    def call(self, row: CallRow) -> None:
        """A call ended. Source text in its arguments is replaced by hash and size."""
        if "files" in row.arguments:
            arguments = events.without_sources(row.arguments)
            row = dataclasses.replace(row, arguments=arguments)
        self._append(row)

    def kernel(self, kernel: Kernel, call_id: str, attempt: int | None = None) -> None:
        """A submission was received: its source is stored first, then the row that names it."""
        # A pruning in between would take a source that no row names yet.
        with self._blobs.kept():
            blob = self._blobs.put_kernel(kernel)
            self._append(events.kernel_row(kernel, call_id, blob, attempt))

    def build(
        self, call_id: str, kernel_id: str, build: Build, guidance: Sequence[Guidance] = ()
    ) -> None:
        """A build ended."""
        self._append(*events.build_rows(call_id, kernel_id, build, guidance))

    def run_started(self, row: RunStartedRow) -> None:
        """A run began."""
        self._append(row)

    def run_finished(
        self,
        run_id: str,
        kernel_id: str,
        tool: str,
        result: Verdict | RunResult | Profile | Compared,
        guidance: Sequence[Guidance] = (),
    ) -> None:
        """A run ended, well or badly."""
        self._append(*events.finished_rows(run_id, kernel_id, tool, result, guidance))

    def run_failed(self, run_id: str, kernel_id: str, tool: str, kind: str, message: str) -> None:
        """A run ended without a result, for a cause that is not the kernel's."""
        self._append(
            RunFinishedRow(
                run_id=run_id,
                kernel_id=kernel_id,
                tool=tool,
                status="error",
                stage=None,
                failure_kind=kind,
                failure_message=message,
            )
        )

    def mark(self, row: MarkRow) -> None:
        """An operator decided what may be ranked."""
        self._append(row)

    def bench(self, row: BenchRow) -> None:
        """A bench was started or resumed."""
        self._append(row)

    def bench_cell(self, row: BenchCellRow) -> None:
        """A cell of a bench began or ended."""
        self._append(row)

    def usage(self, row: UsageRow) -> None:
        """An agent reported what it used."""
        self._append(row)

    def close(self) -> None:
        """Let go of the journal; the next drain archives it. Idempotent."""
        self._journal.close()

    def _append(self, *rows: Row) -> None:
        moment = datetime.now(UTC)
        self._journal.append([self._stamped(row, moment) for row in rows])

    def _stamped(self, row: Row, moment: datetime) -> Mapping[str, object]:
        columns = (column.name for column in dataclasses.fields(row))
        values = {name: value for name in columns if (value := getattr(row, name)) is not None}
        if isinstance(row, _RESULTS) and self._harness is not None:
            values["harness"] = self._harness
        return {
            "table": row.table,
            "id": str(uuid.uuid4()),
            "recorded_at": moment,
            "host": self._host,
            "writer": self._writer,
            **values,
        }
