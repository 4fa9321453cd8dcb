"""The flags of `sz-mcp bench`; its work is `sz_mcp.cli.bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from sz_mcp.cli.options import Home, command, settings_for


def bench(
    spec: Annotated[
        str | None, typer.Argument(help="YAML file, or the name of a spec of ours.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the spec; list its cells and an estimate.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the specs of ours.")] = False,
    only: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Cells whose id is like this: '*.szp.*'.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Begin again what failed or was skipped.")
    ] = False,
    home: Home = None,
) -> None:
    """Let agents work on tasks by a spec; started again, it goes on where it was."""
    done = command("bench")
    if listing or spec is None:
        done.show_specs()
        return
    wish = done.Wish(spec, settings_for({"home": home}).home, only, retry)
    (done.check if dry_run else done.run)(wish)
