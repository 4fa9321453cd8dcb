"""What an agent cuts out of a task's page: the files of its complete examples."""

from __future__ import annotations

import re

EXAMPLE = re.compile(r"^## Complete example: (\S+)$", re.MULTILINE)
FILE = re.compile(r"^### (\S+)\n+(`{3,})\w*\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def examples_of(page: str) -> dict[str, dict[str, str]]:
    """Family → files of the complete examples of a page, read from its text."""
    _, *parts = EXAMPLE.split(page)
    return {
        family: {name: text for name, _, text in FILE.findall(body)}
        for family, body in zip(parts[::2], parts[1::2], strict=True)
    }
