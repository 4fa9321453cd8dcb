"""The leaderboard as a page, and the report of a bench: HTML, Markdown and SVG made here.

Numbers come from `results_db.standings` and from the published copy of the ledger; no function here
measures or ranks. Whatever agents chose (names, messages, sources) passes through `html.element`,
which escapes it.
"""
