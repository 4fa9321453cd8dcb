"""The command line: flags become records here, and each command's work is one module beside it.

A command's module is imported when the command runs, so that `sz-mcp sql` does not wait for the MCP
SDK, nor `serve` for DuckDB.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from sz_mcp import __version__
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.settings import FeedbackLevel, Settings, default_home

app = typer.Typer(
    name="sz-mcp",
    help="Write, verify and time kernels of SZ-family error-bounded lossy compressors over MCP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the ledger; default $SZ_MCP_HOME, else the user's data folder."),
]


def main() -> None:
    """Run the command line; failures that it knows end with their message and exit code 1."""
    try:
        app()
    except (SettingsError, StepFailed) as error:
        sys.stderr.write(f"sz-mcp: {error}\n")
        sys.exit(1)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"sz-mcp {__version__}")
        raise typer.Exit


@app.command()
def serve(  # noqa: PLR0913 - one parameter per flag
    http: Annotated[
        str | None, typer.Option(metavar="[HOST:]PORT", help="Serve HTTP; default is stdio.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Who is calling, over stdio.")] = "anonymous",
    home: Home = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(help="Folder that compile_kernel may read `path` from; repeatable."),
    ] = None,
    feedback: Annotated[
        FeedbackLevel, typer.Option(help="How much agents are told about failures.")
    ] = "suggest",
    token_file: Annotated[
        Path | None, typer.Option(help="TOML file of bearer tokens: [tokens.NAME] token, agent.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Host name clients may use over HTTP; repeatable.")
    ] = None,
) -> None:
    """Serve MCP over stdio, or over Streamable HTTP at /mcp."""
    settings = Settings(
        home=_home(home),
        roots=_roots(root or []),
        agent=agent,
        feedback=feedback,
    )
    command = _command("serve")
    if http is None:
        command.over_stdio(settings)
    else:
        command.over_http(settings, http, token_file, tuple(allow_host or ()))


@app.command()
def demo(home: Home = None) -> None:
    """Do what an agent would: a naive kernel, its measurements, a better one, the comparison."""
    _command("demo").run(_home(home))


@app.command()
def doctor(home: Home = None) -> None:
    """Say what works on this machine and what does not, and the remedy."""
    _command("doctor").run(_home(home))


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help='For example "SELECT * FROM leaderboard".')],
    home: Home = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows at most.")] = 1000,
) -> None:
    """Ask the ledger one SELECT."""
    if json and csv:
        raise SettingsError("choose one of --json and --csv")
    form = "json" if json else "csv" if csv else "table"
    _command("sql").run(_home(home), statement, form, max_rows)


@app.command(name="eval")
def evaluate(  # noqa: PLR0913 - one parameter per flag
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with kernel.py.")],
    task: Annotated[str, typer.Option(help="For example szp.")],
    target: Annotated[str, typer.Option(help="Where it runs.")] = "numba",
    field: Annotated[str, typer.Option(help="Field to measure on.")] = "na_temperature",
    mode: Annotated[str, typer.Option(help="rel or abs.")] = "rel",
    bound: Annotated[float, typer.Option(help="Largest error, in units of the mode.")] = 1e-3,
    agent: Annotated[str, typer.Option(help="Who the ledger says called.")] = "eval",
    home: Home = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compile, verify, run and profile a submission folder as an agent would."""
    settings = Settings(home=_home(home), roots=_roots([folder]), agent=agent)
    wish = {"task": task, "target": target, "field": field, "mode": mode, "bound": bound}
    _command("evaluate").run(settings, wish, as_json=json)


def _command(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def _home(home: Path | None) -> Path:
    chosen = (home or default_home()).expanduser().absolute()
    # numba keeps the server's compiled functions beside their source; where it can't, it would look
    # for a home folder and refuse to start without one.
    if not os.access(Path(__file__).parents[1], os.W_OK):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(chosen / "numba"))
    return chosen


def _roots(roots: list[Path]) -> tuple[Path, ...]:
    missing = [str(root) for root in roots if not root.is_dir()]
    if missing:
        raise SettingsError(f"no folder {', '.join(missing)}")
    return tuple(root.resolve() for root in roots)
