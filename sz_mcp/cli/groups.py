"""The commands of `sz-mcp runs`, `ledger` and `marks`: their flags; the work is beside here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sz_mcp.cli.options import (
    Bound,
    Home,
    Json,
    asked_bound,
    chosen_home,
    command,
    settings_for,
)

runs = typer.Typer(help="List, show, cancel, reproduce and compare runs.", no_args_is_help=True)
ledger = typer.Typer(help="Back up, prune and look at the ledger.", no_args_is_help=True)
marks = typer.Typer(help="Decide what may be ranked; nothing is deleted.", no_args_is_help=True)

RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="A run_id, or an unambiguous beginning of one.")
]
Mode = Annotated[
    Literal["rel", "abs", "pw_rel", "psnr", "l2norm", "ratio"],
    typer.Option(help="What the bound is of."),
]


@runs.command("list")
def list_runs(
    agent: Annotated[str | None, typer.Option(help="Of this agent only.")] = None,
    session: Annotated[str | None, typer.Option(help="Of this session only.")] = None,
    status: Annotated[str | None, typer.Option(help="Such as running, timed, error.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Runs at most.")] = 20,
    home: Home = None,
    json: Json = False,
) -> None:
    """List the latest runs, those in progress among them."""
    wish = {"agent": agent, "session": session, "status": status, "limit": limit}
    command("runs").list_runs(chosen_home(home), wish, as_json=json)


@runs.command("show")
def show_run(run: RunId, home: Home = None, json: Json = False) -> None:
    """Print everything the ledger has on a run."""
    command("runs").show(chosen_home(home), run, as_json=json)


@runs.command("cancel")
def cancel_run(run: RunId, home: Home = None) -> None:
    """End a run in progress, whichever server of this home it runs in."""
    command("runs").cancel(chosen_home(home), run)


@runs.command("reproduce")
def reproduce_run(
    run: RunId,
    field: Annotated[str | None, typer.Option(help="Another field than the run's.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, max=50, help="Repetitions.")] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Run the same kernel again under the same conditions, and compare what comes out."""
    settings = settings_for({"home": home})
    command("reproduce").run(settings, run, {"field": field, "repeats": repeats}, as_json=json)


@runs.command("compare")
def compare_kernels(  # noqa: PLR0913 - one parameter per flag
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL", help="kernel_id, or a beginning of it.")
    ],
    against: Annotated[str, typer.Argument(metavar="AGAINST", help="The one it is compared with.")],
    field: Annotated[str, typer.Option(help="Field to run them on.")],
    mode: Mode = "rel",
    bound: Bound = None,
    repeats: Annotated[int, typer.Option(min=6, max=50, help="Pairs of repetitions.")] = 15,
    threads: Annotated[int, typer.Option(min=1, help="Threads each may use.")] = 1,
    home: Home = None,
    json: Json = False,
) -> None:
    """Time two kernels side by side: faster, slower or inconclusive."""
    settings = settings_for({"home": home})
    wish = {
        "kernel_id": kernel, "against": against, "field": field, "mode": mode,
        "repeats": repeats, "threads": threads, **asked_bound(bound),
    }  # fmt: skip
    command("compare").run(settings, wish, as_json=json)


@ledger.command("backup")
def backup_ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New .tar, .tar.gz or .tgz file.")],
    home: Home = None,
) -> None:
    """Write the database, the sources and the pictures into one archive."""
    command("ledger").backup(chosen_home(home), file)


@ledger.command("export")
def export_ledger(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder to write.")],
    form: Annotated[
        Literal["parquet", "csv", "hf"],
        typer.Option("--format", help="hf: a dataset folder as Hugging Face's libraries read it."),
    ] = "parquet",
    sources: Annotated[
        bool, typer.Option("--sources", help="Submissions' files too; otherwise none.")
    ] = False,
    home: Home = None,
) -> None:
    """Write the results into files for other tools."""
    command("ledger").export(chosen_home(home), folder, form, sources=sources)


@ledger.command("merge")
def merge_ledger(
    other: Annotated[
        Path, typer.Argument(metavar="OTHER_HOME", help="Home to take from; its servers stopped.")
    ],
    home: Home = None,
) -> None:
    """Take the rows, sources and pictures that another home has and this one lacks."""
    command("ledger").merge(chosen_home(home), other)


@ledger.command("prune")
def prune_ledger(
    older_than: Annotated[str, typer.Option(metavar="AGE", help="Such as 30d, 12h or 2w.")],
    agent: Annotated[str | None, typer.Option(help="Only what this agent sent.")] = None,
    keep_best: Annotated[
        bool, typer.Option(help="Whether kernels ranked or awaiting review stay, however old.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    home: Home = None,
) -> None:
    """Forget kernels that nothing was done with lately, and all that was measured of them."""
    wish = {"older_than": older_than, "agent": agent, "keep_best": keep_best}
    command("ledger").prune(chosen_home(home), wish, dry_run=dry_run)


@ledger.command("stats")
def ledger_stats(home: Home = None, json: Json = False) -> None:
    """Print what is in the ledger and what it takes on disk."""
    settings = settings_for({"home": home})
    command("ledger").stats(settings, as_json=json)


@marks.command("add")
def add_mark(
    about: Annotated[
        Literal["kernel", "run", "agent", "session", "likeness"],
        typer.Argument(metavar="ABOUT", help="kernel, run, agent, session or likeness."),
    ],
    subject: Annotated[
        str, typer.Argument(metavar="WHICH", help="Its id or name; of an id the beginning will do.")
    ],
    verdict: Annotated[
        Literal["hidden", "cleared"],
        typer.Argument(
            metavar="VERDICT",
            help="hidden: no ranking has it. cleared: takes that back; a suspect result is ranked.",
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why, in a sentence.")],
    by: Annotated[str | None, typer.Option(help="Who decides; default the user.")] = None,
    home: Home = None,
) -> None:
    """Hide something from the rankings, or clear it. The last mark on it counts."""
    work = command("marks")
    mark = work.Mark(about, subject, verdict, reason, by or work.operator())
    work.add(chosen_home(home), mark)


@marks.command("list")
def list_marks(
    every: Annotated[bool, typer.Option("--all", help="Also those that later ones replaced.")] = (
        False
    ),
    home: Home = None,
    json: Json = False,
) -> None:
    """List the marks in force, the latest first."""
    command("marks").list_marks(chosen_home(home), every=every, as_json=json)


@marks.command("review")
def list_suspects(
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided on.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """List the suspect results that await a decision."""
    command("marks").review(chosen_home(home), every=every, as_json=json)
