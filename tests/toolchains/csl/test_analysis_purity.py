"""Calls while compiling that are run once for each value: what counts as one, and what never is."""

from __future__ import annotations

import pytest

from tests.toolchains.csl.analysing import analysed, value
from toolchains.csl.analysis import calls
from toolchains.csl.analysis.purity import is_pure
from toolchains.csl.nodes import FunctionDecl


def pure(function: str, around: str = "") -> bool:
    _, instance, reports = analysed(f"{around} fn f{function}")
    assert not reports.found, "\n".join(map(str, reports.found))
    assert instance is not None
    node = instance.slots["f"].node
    assert isinstance(node, FunctionDecl)
    return is_pure(node, instance)


@pytest.mark.parametrize(
    ("function", "around"),
    [
        ("(a: u16) u16 { return a + 1; }", ""),
        ("(a: bool, b: u16) color { return @get_color(if (a) b + 1 else b); }", ""),
        ("(a: u16) u16 { var s: u16 = 0; for (@range(u16, a)) |i| { s += i; } return s; }", ""),
        ("(a: u16) u16 { return n * g(a); }", "const n: u16 = 3; fn g(a: u16) u16 { return a; }"),
        ("(a: u16) u16 { return if (a == 0) 0 else f(a - 1); }", ""),
        ("(a: u16) comptime_struct { return .{ .a = a, .b = .{ a, 2 } }; }", ""),
        ("(a: u16) u16 { const n = a; return n; }", ""),
    ],
)
def test_what_follows_from_arguments_and_constants_is_pure(function: str, around: str) -> None:
    assert pure(function, around)


@pytest.mark.parametrize(
    ("function", "around"),
    [
        ("(a: u16) u16 { return n + a; }", "var n: u16;"),
        ("(a: u16) u16 { n = a; return a; }", "var n: u16;"),
        ("(a: u16) u16 { return g(a); }", "var n: u16; fn g(a: u16) u16 { n = a; return a; }"),
        ("(a: u16) void { @set_rectangle(a, 1); }", ""),
        ("(a: u16) u16 { return @random16(); }", ""),
        ("(a: *u16) u16 { return a.*; }", ""),
        ("(a: u16) u16 { return g(a); }", "extern fn g(a: u16) u16;"),
    ],
)
def test_what_reads_or_changes_more_is_not(function: str, around: str) -> None:
    assert not pure(function, around)


def test_a_pure_function_runs_once_for_each_value_and_type(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    run = calls._ran

    def counted(*given: object) -> object:
        ran.append(given[2])
        return run(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(calls, "_ran", counted)
    text = """
    fn size(a: anytype) u16 { return if (@is_same_type(@type_of(a), bool)) 1 else 16; }
    fn all() u16 {
      var s: u16 = 0;
      for (@range(u16, 10)) |i| { s += size(i % 2) + size(i % 2 == 1) + size(@as(i16, 1)); }
      return s;
    }
    const x = all();
    """
    assert value("x", text) == ("u16", 330)
    # all() itself; 0 and 1 of u16, true and false, 1 of i16.
    assert len(ran) == 1 + 5


def test_what_a_block_has_in_variables_is_part_of_no_result() -> None:
    text = """
    fn next(a: u16) u16 { return a + 1; }
    fn all() u16 { var s: u16 = 0; while (s < 5) { s = next(s); } return s; }
    const x = all();
    """
    assert value("x", text) == ("u16", 5)
