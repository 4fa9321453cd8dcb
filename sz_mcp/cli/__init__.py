"""The command line: flags become records here, and each command's work is one module beside it.

A command's module is imported when the command runs, so that `sz-mcp sql` does not wait for the MCP
SDK, nor `serve` for DuckDB.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from sz_mcp import __version__
from sz_mcp.cli import bench_flags, cslc_flags, fields, groups, tokens
from sz_mcp.cli.options import (
    Bound,
    Config,
    Home,
    Json,
    Sets,
    asked_bound,
    configured,
    remember,
    settings_for,
)
from sz_mcp.cli.options import chosen_home as _home
from sz_mcp.cli.options import command as _command
from sz_mcp.errors import SettingsError, StepFailed
from sz_mcp.settings import FeedbackLevel

app = typer.Typer(
    name="sz-mcp",
    help="Write, verify and time kernels of SZ-family error-bounded lossy compressors over MCP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(fields.app, name="fields")
app.add_typer(groups.runs, name="runs")
app.add_typer(groups.ledger, name="ledger")
app.add_typer(groups.marks, name="marks")
app.add_typer(tokens.app, name="token")
app.command("bench")(bench_flags.bench)
app.command("cslc", context_settings=cslc_flags.PASSED_ON)(cslc_flags.cslc)
app.command("cs-python", context_settings=cslc_flags.PASSED_ON)(cslc_flags.cs_python)


def main() -> None:
    """Run the command line; failures that it knows end with their message and exit code 1."""
    try:
        app()
    except (SettingsError, StepFailed) as error:
        sys.stderr.write(f"sz-mcp: {error}\n")
        sys.exit(1)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and that of the ledger's schema.")
    ] = False,
    config: Config = None,
    sets: Sets = None,
) -> None:
    remember(config, sets)
    if version:
        typer.echo(f"sz-mcp {__version__} (ledger schema {_command('about').schema_version()})")
        raise typer.Exit


@app.command()
def serve(  # noqa: PLR0913 - one parameter per flag
    http: Annotated[
        str | None, typer.Option(metavar="[HOST:]PORT", help="Serve HTTP; default is stdio.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Who is calling, over stdio; default anonymous.")
    ] = None,
    home: Home = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(help="Folder that compile_kernel may read `path` from; repeatable."),
    ] = None,
    feedback: Annotated[
        FeedbackLevel | None,
        typer.Option(help="How much agents are told about failures; default suggest."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File of bearer tokens; default tokens.toml in the home.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Host name clients may use over HTTP; repeatable.")
    ] = None,
    allow_unconfined: Annotated[
        bool | None,
        typer.Option(
            "--allow-unconfined", help="Serve other machines even where no sandbox holds."
        ),
    ] = None,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Serve MCP over stdio, or over Streamable HTTP at /mcp."""
    remember(config, sets)
    settings = settings_for(
        {
            "http.address": http,
            "agent": agent,
            "home": home,
            "roots": root or None,
            "feedback": feedback,
            "http.token_file": token_file,
            "http.allow_hosts": allow_host or None,
            "http.allow_unconfined": allow_unconfined,
        }
    )
    _command("serve").run(settings)


@app.command(name="config")
def show_config(
    home: Home = None, config: Config = None, sets: Sets = None, json: Json = False
) -> None:
    """Print the settings in force and where each comes from."""
    remember(config, sets)
    _command("about").show(configured({"home": home}), as_json=json)


@app.command()
def demo(home: Home = None) -> None:
    """Do what an agent would: a naive kernel, its measurements, a better one, the comparison."""
    _command("demo").run(_home(home))


@app.command()
def doctor(home: Home = None) -> None:
    """Say what works on this machine and what does not, and the remedy."""
    settings = settings_for({"home": home})
    _command("doctor").run(settings.home, settings.disk_quota_bytes)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help='For example "SELECT * FROM leaderboard".')],
    home: Home = None,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows at most.")] = 1000,
) -> None:
    """Ask the ledger one SELECT."""
    if json and csv:
        raise SettingsError("choose one of --json and --csv")
    form = "json" if json else "csv" if csv else "table"
    _command("sql").run(_home(home), statement, form, max_rows)


@app.command()
def share(
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL", help="kernel_id, or a beginning of it.")
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Share it no longer.")] = False,
    home: Home = None,
) -> None:
    """Let every agent read a kernel's source and what its owner measured of it."""
    _command("token_commands").share(_home(home), kernel, undo=undo)


@app.command()
def board(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of 127.0.0.1; 0 takes any free one.")
    ] = 8766,
    home: Home = None,
) -> None:
    """Serve the leaderboard page alone, from the ledger, on this machine."""
    _command("board").run(settings_for({"home": home}), port)


@app.command()
def standings(
    bench: Annotated[str, typer.Option(metavar="ID", help="Of this bench only.")] = "",
    against: Annotated[
        str, typer.Option(metavar="AGENT", help="Also speeds beside this agent's: fast_p, wins.")
    ] = "",
    detail: Annotated[
        bool, typer.Option("--detail", help="Also gains of help, areas of budgets, fronts.")
    ] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare agents over all that they tried: worth, interval, rank or tie, hacks, costs."""
    _command("standings").run(_home(home), bench, against, whole=detail, as_json=json)


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("sz-mcp-report"),
    bench: Annotated[str, typer.Option(metavar="ID", help="Of this bench only.")] = "",
    task: Annotated[str, typer.Option(help="Of this task only.")] = "",
    target: Annotated[str, typer.Option(help="Of this target only.")] = "",
    home: Home = None,
) -> None:
    """Write a report: figures, summary, anomalies, the log to repeat it (HTML and Markdown)."""
    _command("report").run(_home(home), (bench, task, target), out)


@app.command(name="eval")
def evaluate(  # noqa: PLR0913 - one parameter per flag
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with kernel.py.")],
    task: Annotated[str, typer.Option(help="For example szp.")],
    target: Annotated[str, typer.Option(help="Where it runs.")] = "numba",
    field: Annotated[str, typer.Option(help="Field to measure on.")] = "na_temperature",
    mode: Annotated[str, typer.Option(help="rel, abs, pw_rel, psnr, l2norm or ratio.")] = "rel",
    bound: Bound = None,
    agent: Annotated[str, typer.Option(help="Who the ledger says called.")] = "eval",
    home: Home = None,
    json: Json = False,
) -> None:
    """Compile, verify, run and profile a submission folder as an agent would."""
    settings = settings_for({"home": home, "roots": [folder], "agent": agent})
    wish = {"task": task, "target": target, "field": field, "mode": mode, **asked_bound(bound)}
    _command("evaluate").run(settings, wish, as_json=json)


@app.command()
def compare(  # noqa: PLR0913 - one parameter per flag
    fields: Annotated[
        list[str],
        typer.Argument(
            metavar="FIELD...", help="Names of fields, files that describe themselves, or suite."
        ),
    ],
    bound: Annotated[
        list[float] | None, typer.Option(help="Largest error; repeatable; default 1e-3.")
    ] = None,
    mode: Annotated[Literal["rel", "abs"], typer.Option(help="What the bound is of.")] = "rel",
    codec: Annotated[
        list[str] | None, typer.Option(help="Compressor; repeatable; default the usual ones.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=50, help="Timed repetitions.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Of those that can use several.")] = 1,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare our compressors with SZ3, zfp and SPERR: ratio, speed, error, violations."""
    peers = _command("peers")
    wish = peers.Wish(fields, mode, bound or [1e-3], codec or [], repeats, threads)
    peers.run(_home(home), wish, as_json=json)


@app.command()
def check(  # noqa: PLR0913 - one parameter per flag
    original: Annotated[Path, typer.Argument(help="Raw file or .npy.")],
    decoded: Annotated[Path, typer.Argument(help="What came back, likewise.")],
    bound: Annotated[float, typer.Option(help="Largest error, in units of the mode.")],
    mode: Annotated[
        Literal["abs", "rel", "pw_rel"],
        typer.Option(help="rel: × (max − min). pw_rel: × each value's magnitude, same sign."),
    ] = "abs",
    dims: Annotated[
        str | None, typer.Option(help="Of raw files, slowest axis first: 26x1800x3600.")
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(help="Of raw files: f32, f64, i8 … i64, u8 … u64.")
    ] = None,
    endian: Annotated[Literal["little", "big"], typer.Option(help="Of raw files.")] = "little",
    fill: Annotated[
        float | None, typer.Option(help="Value that is no data: kept out of range and metrics.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Default all cores.")] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="PSNR, SSIM and more.")] = False,
    json: Json = False,
) -> None:
    """Check two files of any compressor, every value, exactly; exit code 0 holds, 1 violated."""
    configured({})
    done = _command("check")
    wish = done.Wish(original, decoded, mode, bound, dims, dtype, endian, fill, threads, metrics)
    raise typer.Exit(done.run(wish, as_json=json))
