"""The difference of two sources is a shortest one, and takes bounded time."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from sz_mcp.board.differences import CONTEXT, MOST_EDITS, changes, edits

Lines = st.lists(st.sampled_from("abc"), max_size=12)


@given(Lines, Lines)
def test_a_difference_leads_from_one_to_the_other_by_fewest_lines(
    before: list[str], after: list[str]
) -> None:
    found = edits(before, after)

    assert [one.line for one in found if one.kind != "added"] == before
    assert [one.line for one in found if one.kind != "removed"] == after
    assert sum(one.kind == "same" for one in found) == longest_common(before, after)


def longest_common(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for one in a:
        above = row
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
    return row[-1]


def test_numbers_of_lines_are_those_of_the_files() -> None:
    (change,) = changes({"k.py": "a\nb\nc\n"}, {"k.py": "a\nx\nc\n"})
    ((_, removed, added, _),) = change.hunks

    assert (removed.kind, removed.before, removed.line) == ("removed", 2, "b")
    assert (added.kind, added.after, added.line) == ("added", 2, "x")
    assert (change.added, change.removed) == (1, 1)


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    before = [str(number) for number in range(40)]
    after = [*before[:5], "x", *before[6:30], "y", *before[31:]]
    (change,) = changes({"k": "\n".join(before)}, {"k": "\n".join(after)})

    assert [len(hunk) for hunk in change.hunks] == [2 + 2 * CONTEXT] * 2
    expected = list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))
    shown = [line[1:] for line in expected if not line.startswith(("---", "+++", "@@"))]
    assert [one.line for hunk in change.hunks for one in hunk] == shown


def test_files_that_are_the_same_are_left_out_and_new_ones_are_whole() -> None:
    found = changes({"a": "1", "b": "2"}, {"a": "1", "c": "3\n4"})

    assert [(one.name, one.added, one.removed) for one in found] == [("b", 0, 1), ("c", 2, 0)]


def test_what_has_too_many_differences_is_replaced_whole() -> None:
    before = [f"a{number}" for number in range(MOST_EDITS)]
    after = [f"b{number}" for number in range(MOST_EDITS)]
    found = edits(["head", *before], ["head", *after])

    assert [one.kind for one in found] == (
        ["same"] + ["removed"] * MOST_EDITS + ["added"] * MOST_EDITS
    )
