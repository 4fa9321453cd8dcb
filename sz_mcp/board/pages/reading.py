"""How to read the pages: what a rank, an interval and each column mean."""

from __future__ import annotations

from sz_mcp.board.html import Child, element
from sz_mcp.board.layout import section
from sz_mcp.board.pages.leaderboard import MEASURES
from sz_mcp.board.tables import Column, table, words

EXECUTIONS = {
    "hardware": "measured wall time, in GB/s of original data, or in bits for sz-open",
    "simulated": "cycles of the device as the model of the machine counts them; fewer is better",
    "emulated": (
        "the kernel ran, and is right or wrong, but has no speed; ratios are compared, of stages "
        "the share of sessions with a right one"
    ),
}


def reading_page() -> list[Child]:
    """The content of the page."""
    rows = [[words(one.name), words(one.meaning)] for one in MEASURES]
    columns = (Column("Column"), Column("What it says", wrap=True))
    return [
        section(
            "What is ranked with what",
            _paragraph(
                "Runs are ranked only among runs of the same task, target, field, bound, threads "
                "and execution. On hardware the machine must be the same too, by the fingerprint "
                "of what decides speed."
            ),
            element(
                "ul",
                [
                    element("li", element("strong", name), f": {told}")
                    for name, told in EXECUTIONS.items()
                ],
            ),
        ),
        section(
            "Values, intervals and ties",
            _paragraph(
                "Every session is an independent repeat. Of each its best eligible result counts, "
                "and one that got nothing at all counts zero. The value is the mean over sessions "
                "(of cycles the harmonic one); its interval holds 95% of the means that a "
                "bootstrap over sessions draws. A rank is an interval too: of the ranks in the "
                "same draws. Agents whose intervals of ranks overlap are tied, and are shown as "
                "tied, whatever the order of the rows."
            ),
            _paragraph(
                "With fewer than five sessions nothing can be said of the spread: such a row says "
                "“too few to rank”."
            ),
        ),
        section(
            "What is not ranked",
            _paragraph(
                "Runs of kernels that broke a bound or a format, runs that are suspect until "
                "somebody clears them, runs without a verdict of the whole suite, streams of a "
                "fixed format that are too large, comparisons and reproductions. Near-duplicates "
                "of one agent count once."
            ),
        ),
        section("Columns", table("columns", "Columns of the leaderboard", columns, rows)),
    ]  # fmt: skip


def _paragraph(told: str) -> Child:
    return element("p", told)
