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

from collections.abc import Iterator
from contextlib import contextmanager


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


def reason(error: Exception) -> str:
    """What went wrong, in a few words and without the paths that an OSError's text holds."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error.args[0] if error.args else "").split())
    return text[:200] or type(error).__name__


@contextmanager
def reading(file: str, form: str) -> Iterator[None]:
    """While a user's file is read.

    What readers of formats make of damaged files has no common class: zipfile, tokenize and struct
    errors, overflows, a Zarr codec's RuntimeError. Raises FieldFileError for all of them.
    """
    try:
        yield
    except FieldFileError:
        raise
    except Exception as error:
        raise FieldFileError(
            f"{file} can't be read as {form} ({reason(error)}): it is damaged, or something else "
            "than its name says; write it anew, or download it again"
        ) from error
