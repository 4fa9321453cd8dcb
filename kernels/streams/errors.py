"""What can be wrong with a stream, as exceptions."""

from __future__ import annotations


class StreamError(ValueError):
    """The bytes are not a legal stream of the format for this shape and dtype, or can't be made."""
