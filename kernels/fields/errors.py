"""What can go wrong with fields, one class per cause.

Exception
├── UnknownFieldError     no field has this name, or a computed one can't be made as asked
├── FieldDataError        a file no longer holds the values it should
├── FieldFileError        a user's file can't become a field; the message says what to do
│   └── MissingReaderError  it needs an optional package
├── FieldNameError        a name that can't be given to a field, or is taken
└── FetchError            a data set can't be downloaded or is not what it should be
"""

from __future__ import annotations


class UnknownFieldError(LookupError):
    """No field has this name."""


class FieldDataError(RuntimeError):
    """A file does not hold the values it should."""


class FieldFileError(ValueError):
    """A file can't become a field as asked."""


class MissingReaderError(FieldFileError):
    """The file's format needs a package that is not installed."""


class FieldNameError(ValueError):
    """The name can't be used for a user's field."""


class FetchError(RuntimeError):
    """A data set can't be had, or did not arrive as it should."""
