"""What tests of the analysis share: programs from texts, their values, code and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from tests.toolchains.csl import trees
from tests.toolchains.csl.parsing import brief
from toolchains.csl.analysis.analysis import Analysis
from toolchains.csl.analysis.names import Instance
from toolchains.csl.evaluation import Options
from toolchains.csl.source import Reports
from toolchains.csl.tile import Tile
from toolchains.csl.values import Known

Texts = str | Mapping[str, str]


def analysed(
    texts: Texts, dialect: str = "1.4", params: Known | None = None, unreached: bool = False
) -> tuple[Tile, Instance | None, Reports]:
    """The tile program of `main.csl`, or of a text alone; names in <> are of the library."""
    files = {"main.csl": texts} if isinstance(texts, str) else dict(texts)

    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    reports = Reports()
    options = Options("wse2", dialect, max_inlined_iterations=100)
    analysis = Analysis(options, read, reports, lambda name: files.get(f"<{name}>"))
    tile, instance = analysis.compile_tile("main.csl", params)
    if unreached:
        analysis.check_unreached()
        analysis.report_unreached()
    return tile, instance, reports


def said(texts: Texts, dialect: str = "1.4", unreached: bool = False) -> list[str]:
    """Every diagnostic as `line:column code: message => hint`."""
    return [brief(one) for one in analysed(texts, dialect, unreached=unreached)[2].found]


def error_of(texts: Texts, dialect: str = "1.4") -> str:
    """The only diagnostic."""
    (found,) = said(texts, dialect)
    return found


def value(name: str, texts: Texts, dialect: str = "1.4") -> tuple[str, object]:
    """Type and data of a global constant of a program without mistakes."""
    _, instance, reports = analysed(texts, dialect)
    assert not reports.found, "\n".join(map(str, reports.found))
    assert instance is not None
    known = instance.slots[name].value
    assert known is not None
    return str(known.type), trees.plain(known.data)


def computed(expression: str, dialect: str = "1.4") -> tuple[str, object]:
    """Type and data of an expression."""
    return value("x", f"const x = {expression};", dialect)


def code(texts: Texts, name: str = "f", dialect: str = "1.4") -> str:
    """The tree of a function of a program without mistakes."""
    tile, _, reports = analysed(texts, dialect)
    assert not reports.found, "\n".join(map(str, reports.found))
    (found,) = [one for one in tile.functions if one.name == name]
    return " ".join(trees.statements(found.body))


EXPORT = " comptime { @export_symbol(f); }"


def body(text: str, around: str = "", dialect: str = "1.4") -> str:
    """The tree of statements, in a function without parameters."""
    return code(f"{around} fn f() void {{ {text} }}{EXPORT}", dialect=dialect)


def mistake(text: str, around: str = "", dialect: str = "1.4") -> str:
    """The only diagnostic of statements in a function, without its place."""
    found = error_of(f"{around} fn f() void {{ {text} }}{EXPORT}", dialect)
    return found.split(" ", 1)[1]
