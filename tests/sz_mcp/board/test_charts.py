"""Charts are well-formed, say what they show, and put values where they belong."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sz_mcp.board.charts.bars import Group, Span, bars, spans
from sz_mcp.board.charts.curves import Line, Reference, curves
from sz_mcp.board.charts.grids import Grid, Spoke, heat_map, radar
from sz_mcp.board.charts.plane import LEFT, RIGHT, WIDTH, Axis, scale
from sz_mcp.board.charts.points import Cloud, Point, front, scatter
from sz_mcp.board.figures import linear_ticks, log_ticks, percent, shown, spread, tick
from sz_mcp.board.html import Markup
from tests.sz_mcp.board.made import EVIL

SVG = "{http://www.w3.org/2000/svg}"
LINEAR = (Axis("x"), Axis("y"))
DRAWN = {
    "curves": curves(
        "C", (Axis("x", log=True), Axis("y", low=0.0)),
        [Line("a", ((1, 1), (10, 2)), (0.5, 1.5), (1.5, 2.5), steps=True), Line(EVIL, ((3, 3),))],
        [Reference("limit", 4.0)],
    ),
    "scatter": scatter("S", LINEAR, [Cloud(EVIL, (Point(1, 2, EVIL, 3.0), Point(2, 1, "b", 9)))],
                       [[(1, 2), (2, 1)]], "PSNR"),
    "bars": bars("B", Axis("GB/s"), ["a", EVIL], [Group("g", (1.0, None)), Group("h", (2.0, 0.5))]),
    "spans": spans("I", Axis("score"), [Span(EVIL, 2, 1, 3), Span("b", 1, 1, 1)]),
    "heat": heat_map("H", "ratio", Grid("f", "b", ("x", EVIL), ("1", "2"), ((1, None), (100, 3)))),
    "radar": radar("R", ["a", "b"], [Spoke(n, ("1", "–"), (1.0, None)) for n in "pqr"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_is_xml_with_a_title_a_description_and_no_script(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name])

    title, described = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert title
    assert described
    assert root.get("role") == "img"
    assert root.get("aria-label") == f"{title}. {described}"
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg", "title", "desc", "path", "line", "text", "rect",
    }  # fmt: skip
    assert not re.search(r"nan|inf(?!o)|None", DRAWN[name])


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_stays_within_its_view(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name])
    _, _, width, height = map(float, str(root.get("viewBox")).split())

    for one in root.iter(f"{SVG}rect"):
        assert 0 <= float(one.get("x", "")) <= width
        assert 0 <= float(one.get("y", "")) <= height
    for one in root.iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", one.get("d", ""))]
        assert all(-width <= number <= width for number in numbers)


def test_values_lie_where_the_axis_says() -> None:
    linear = scale(Axis("x", low=0, high=10), [5.0], 0, 100)
    assert [linear.at(value) for value in (0, 5, 10)] == [0, 50, 100]

    log = scale(Axis("x", log=True), [1.0, 100.0], 0, 100)
    assert log.at(10) == pytest.approx(50)
    assert log.at(0) == 0


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=20), st.booleans())
def test_any_values_have_a_scale_with_ticks_inside(values: list[float], log: bool) -> None:
    made = scale(Axis("x", log=log), values, LEFT, WIDTH - RIGHT)

    assert all(LEFT <= made.at(value) <= WIDTH - RIGHT for value in values)
    assert all(LEFT <= made.at(value) <= WIDTH - RIGHT for value in made.ticks)
    assert len(made.ticks) <= 8


def test_ticks_are_round() -> None:
    assert linear_ticks(0, 10) == (0, 2, 4, 6, 8, 10)
    assert [tick(value) for value in log_ticks(1e-4, 1e-2)] == [
        "1e-4", "2e-4", "5e-4", "0.001", "0.002", "0.005", "0.01",
    ]  # fmt: skip


def test_the_front_has_what_nothing_beats_in_both() -> None:
    points = [(1.0, 5.0), (2.0, 4.0), (2.0, 3.0), (1.5, 4.5), (3.0, 1.0), (2.9, 1.0)]

    assert front(points) == [(1.0, 5.0), (1.5, 4.5), (2.0, 4.0), (3.0, 1.0)]


def test_a_missing_cell_of_a_heat_map_is_marked_and_told() -> None:
    assert 'class="cell missing"' in DRAWN["heat"]
    assert "1 missing" in DRAWN["heat"]


def test_numbers_are_shown_with_the_digits_that_they_have() -> None:
    assert [shown(value) for value in (None, math.nan, math.inf, 0.0, 12345, 1.2345, 1234.5)] == [
        "–", "–", "∞", "0", "12,345", "1.23", "1,234",
    ]  # fmt: skip
    assert (shown(-0.00012345), shown(2.5e7)) == ("−1.23e-4", "2.5e7")
    assert spread(1.92, 1.87, 1.97) == "1.92 (1.87–1.97)"
    assert [percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0, None)] == [
        "0%", "<1%", "50%", ">99%", "100%", "–",
    ]  # fmt: skip


def test_a_chart_of_nothing_says_so() -> None:
    assert "nothing to show" in curves("C", LINEAR, [])
    assert isinstance(scatter("S", LINEAR, []), Markup)
