"""What a home takes on disk, part by part."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOT_COUNTED = frozenset({"fields", "numba"})
"""Folders of a home that no pruning would empty: data sets of the user, compiled functions."""

REST = "other"


@dataclass(frozen=True)
class Usage:
    """Bytes of files."""

    parts: Mapping[str, int]
    """First name below the home → bytes; single files of little interest under `other`."""

    @property
    def total(self) -> int:
        """Bytes of all parts."""
        return sum(self.parts.values())


def usage(home: Path) -> Usage:
    """What the ledger of `home` takes; files that vanish meanwhile are not there."""
    parts: dict[str, int] = {}
    for entry in _entries(home):
        if entry.name in NOT_COUNTED:
            continue
        known = entry.is_dir(follow_symlinks=False) or entry.name.startswith("ledger")
        name = entry.name if known else REST
        parts[name] = parts.get(name, 0) + _bytes(entry)
    return Usage(parts)


def _bytes(entry: os.DirEntry[str]) -> int:
    if entry.is_dir(follow_symlinks=False):
        return sum(_bytes(one) for one in _entries(Path(entry.path)))
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
