"""The ledger: an append-only journal per process, drained into DuckDB, read through a snapshot."""
