"""`sz-mcp report`: the report of a bench or of the whole ledger, as HTML, Markdown and SVG."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

from results_db.errors import LedgerError
from sz_mcp.board.copy import refresh
from sz_mcp.board.report.compose import report
from sz_mcp.board.report.document import write
from sz_mcp.board.report.measured import Scope
from sz_mcp.errors import StepFailed


def run(home: Path, wish: tuple[str, str, str], out: Path) -> None:
    """Write it, and say where. wish: bench, task and target; empty: all.

    Raises:
        StepFailed: there is nothing to report on, or it can't be read or written.
    """
    try:
        if warning := refresh(home):
            sys.stderr.write(f"sz-mcp: {warning}\n")
        written = write(report(home, Scope(*wish)), out)
    except LedgerError as error:
        raise StepFailed(str(error)) from error
    except duckdb.Error as error:
        raise StepFailed(f"the ledger can't be read: {error}") from error
    except OSError as error:
        raise StepFailed(f"can't write the report to {out}: {error.strerror}") from error
    figures = len(written) - 2
    sys.stdout.write(f"{written[0]}\n{written[1]}\n{out / 'figures'}: {figures} figures\n")
