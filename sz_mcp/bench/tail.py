"""What the server has recorded of each session so far, read from its journal as it is written.

This is the same for every kind of agent, is what the server saw rather than what an agent says, and
opens no database: a look reads only bytes that are new.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernels.records import Status
from results_db import segments
from results_db.files import LedgerFiles
from sz_mcp.projection import CYCLES

_LADDER = tuple(Status)[: tuple(Status).index(Status.TIMED) + 1]


@dataclass(frozen=True)
class Standing:
    """One session."""

    calls: int = 0
    """Calls on kernels that were answered."""
    rung: int = -1
    """Highest rung of the ladder that one of its kernels reached; -1: none yet."""
    best: float | None = None
    """Of the runs that kept the bound: speed or score; 1 / cycles; where there is no speed, ratio.
    """
    best_at: int = 0
    """Calls when the best was found."""


class Tail:
    """Follows the journals of one home from now on."""

    def __init__(self, home: Path, gain: float = 0.0) -> None:
        """gain: relative improvement below which a result is no better."""
        self._files = LedgerFiles(home)
        self._gain = gain
        self._offsets = {path.name: path.stat().st_size for path in segments.paths(self._files)}
        self._sessions: dict[str, str] = {}
        """run_id → session."""
        self._standings: dict[str, Standing] = {}

    def standing(self, session: str) -> Standing:
        """As of the last look."""
        return self._standings.get(session, Standing())

    def look(self) -> None:
        """Take in what was written since the last look."""
        for path in segments.paths(self._files):
            # The drain may just be moving it: it is then found in the archive next time.
            with contextlib.suppress(FileNotFoundError):
                self._read(path)

    def _read(self, path: Path) -> None:
        start = self._offsets.get(path.name, 0)
        if path.stat().st_size <= start:
            return
        with path.open("rb") as file:
            file.seek(start)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        for line in data[:whole].splitlines():
            with contextlib.suppress(ValueError):
                self._take(json.loads(line)["rows"])
        self._offsets[path.name] = start + whole

    def _take(self, rows: list[dict[str, Any]]) -> None:
        cycles: Counter[str] = Counter()
        for row in rows:
            if row["table"] == "metrics" and row["name"].endswith(CYCLES):
                # Of both directions of a codec.
                cycles[row.get("run_id", "")] += row["value"]
        for row in rows:
            match row["table"]:
                case "runs_started":
                    self._sessions[row["run_id"]] = row["session"]
                case "runs_finished":
                    self._finished(row, cycles[row["run_id"]])
                case "calls" if row.get("attempt") is not None:
                    standing = self.standing(row["session"])
                    self._standings[row["session"]] = replace(standing, calls=standing.calls + 1)

    def _finished(self, row: Mapping[str, Any], cycles: float) -> None:
        session = self._sessions.pop(row["run_id"], None)
        if session is None or row["tool"] != "run_compress" or row["status"] not in _LADDER:
            return
        standing, rung = self.standing(session), _LADDER.index(Status(row["status"]))
        value = _value(row, cycles)
        better = rung > standing.rung or (
            value is not None
            and rung == standing.rung
            and (standing.best is None or value > standing.best * (1 + self._gain))
        )
        if better:
            # The run's own call is recorded after it.
            self._standings[session] = replace(
                standing, rung=rung, best=value, best_at=standing.calls + 1
            )


def _value(row: Mapping[str, Any], cycles: float) -> float | None:
    if cycles:
        return 1 / cycles
    for name in ("transfer_bits", "both_ways_gbps", "run_gbps", "ratio"):
        if (found := row.get(name)) is not None:
            return float(found)
    return None
