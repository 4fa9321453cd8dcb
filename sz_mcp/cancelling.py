"""Asking for the end of a run from another process: a file in the home, taken by its server.

Whoever asks makes an empty file named after the run; the server that runs it looks about every
second, cancels the run and removes the file.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from results_db.files import LedgerFiles

FORGOTTEN_S = 60.0
"""Age of a file that no server has taken: whoever made it has given up."""
_RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def ask(home: Path, run_id: str) -> None:
    """Ask for the end of a run."""
    folder = LedgerFiles(home).cancel
    folder.mkdir(parents=True, exist_ok=True)
    (folder / run_id).touch()


def withdraw(home: Path, run_id: str) -> bool:
    """Ask no longer; whether nobody had taken it yet."""
    try:
        (LedgerFiles(home).cancel / run_id).unlink()
    except FileNotFoundError:
        return False
    return True


def is_asked(home: Path, run_id: str) -> bool:
    """Whether nobody has taken it yet."""
    return (LedgerFiles(home).cancel / run_id).exists()


def asked(home: Path) -> list[str]:
    """The runs whose end somebody asks for; what was asked long ago is forgotten."""
    found: list[str] = []
    try:
        for path in LedgerFiles(home).cancel.iterdir():
            if not _RUN_ID.fullmatch(path.name):
                continue
            if time.time() - path.stat().st_mtime > FORGOTTEN_S:
                path.unlink(missing_ok=True)
            else:
                found.append(path.name)
    except OSError:
        # No such folder, or a file that another server took meanwhile: the next look is near.
        return found
    return found
