"""The report of a bench or of a whole ledger: facts, figures, anomalies, the log to repeat it.

`measured` reads, `anomalies` and `summary` judge, `drawn` draws, `document` holds the parts, and
`written` turns them into one HTML file, or Markdown with SVG files.
"""
