"""What compilers wrote of kernels (PTX, SASS, assembly), in a folder per kernel."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path

_LOG = logging.getLogger(__name__)
_MOST_BYTES = 8 << 20
"""Of one kernel."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def artifact_uri(kernel_id: str, name: str) -> str:
    """Where it is read."""
    return f"sz-mcp://kernels/{kernel_id}/{name}"


def shown(artifacts: Mapping[str, bytes]) -> tuple[str, ...]:
    """Names of those that are kept: they fit together."""
    names, total = [], 0
    for name, content in sorted(artifacts.items()):
        total += len(content)
        if total <= _MOST_BYTES and _NAME.fullmatch(name):
            names.append(name)
    return tuple(names)


class Artifacts:
    """The folder of one home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, kernel_id: str, artifacts: Mapping[str, bytes]) -> None:
        """Write them, as far as they are `shown`."""
        try:
            for name in shown(artifacts):
                folder = self._folder / kernel_id
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(artifacts[name])
        except OSError as error:
            # They can be had again by compiling again.
            _LOG.warning("what was compiled of %s can't be kept: %s", kernel_id, error)

    def read(self, kernel_id: str, name: str) -> str | None:
        """The text; None if there is no such thing."""
        if not (_NAME.fullmatch(kernel_id) and _NAME.fullmatch(name)):
            return None
        path = self._folder / kernel_id / name
        return path.read_text("utf-8", "replace") if path.is_file() else None
