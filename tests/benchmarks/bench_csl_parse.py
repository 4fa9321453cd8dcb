"""Lines of CSL lexed and parsed per second of one core.

python -m tests.benchmarks.bench_csl_parse [FOLDER …]

Without folders: the checkouts that SZ_MCP_CSL_EXAMPLES (1.4) and SZ_MCP_SDK_EXAMPLES (2.10) name.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from toolchains.csl.lexer import lex
from toolchains.csl.parser import parse
from toolchains.csl.source import Source

REPEATS = 7


def best(sources: list[Source], dialect: str) -> tuple[float, float]:
    """Process CPU seconds of lexing alone, and of all."""
    lexing, all_of_it = [], []
    for _ in range(REPEATS):
        begin = time.process_time()
        for source in sources:
            lex(source)
        middle = time.process_time()
        for source in sources:
            parse(source, dialect)
        lexing.append(middle - begin)
        all_of_it.append(time.process_time() - middle)
    return min(lexing), min(all_of_it)


def measured(folders: list[tuple[str, str]]) -> Table:
    table = Table("folder", "files", "lines", "tokens", "lexed, lines/s", "parsed, lines/s")
    for folder, dialect in folders:
        paths = sorted(Path(folder).rglob("*.csl"))
        sources = [Source(p.name, str(p), p.read_text(encoding="utf-8")) for p in paths]
        lines = sum(one.text.count("\n") for one in sources)
        tokens = sum(len(lex(one)[0].texts) for one in sources)
        lexing, parsing = best(sources, dialect)
        rates = (f"{lines / lexing:,.0f}", f"{lines / parsing:,.0f}")
        table.add_row(folder, str(len(sources)), str(lines), str(tokens), *rates)
    return table


def main() -> None:
    known = (("SZ_MCP_CSL_EXAMPLES", "1.4"), ("SZ_MCP_SDK_EXAMPLES", "2.10"))
    folders = [(one, "2.10") for one in sys.argv[1:]]
    folders = folders or [(os.environ[k], d) for k, d in known if os.environ.get(k)]
    if not folders:
        sys.exit("give a folder with .csl files, or set SZ_MCP_CSL_EXAMPLES")
    Console(width=120).print(measured(folders))


if __name__ == "__main__":
    main()
