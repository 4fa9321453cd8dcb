"""What can go wrong with the ledger, one class per cause that a caller treats differently.

LedgerError
├── JournalError        an event could not be made durable
├── DatabaseError       ledger.duckdb can't be opened or brought to this version
│   └── NewerDatabaseError   a newer sz-mcp made it
├── UpkeepError         a backup, a pruning or a look at the disk can't be done as asked
├── QueryError          a query was refused, failed, or took too long
└── BlobError           stored source is damaged or the home is not writable
    └── UnknownKernelError   no kernel of that id in this home
"""

from __future__ import annotations


class LedgerError(Exception):
    """Any failure of the ledger."""


class JournalError(LedgerError):
    """An event could not be made durable; the caller must not acknowledge what it describes."""


class DatabaseError(LedgerError):
    """The database itself is unusable; journals keep everything until it is mended."""


class NewerDatabaseError(DatabaseError):
    """A newer version of sz-mcp made the database; the message says what to do."""


class UpkeepError(LedgerError):
    """The ledger can't be backed up or pruned as asked; nothing was changed."""


class QueryError(LedgerError):
    """A query was refused, failed or took too long. The text is meant for whoever wrote the SQL."""


class BlobError(LedgerError):
    """Stored source can't be written, or is not what was stored."""


class UnknownKernelError(BlobError):
    """No kernel of that id was received in this home."""
