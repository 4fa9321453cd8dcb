"""`sz-mcp token`: flags become records here; the work is in `token_commands`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sz_mcp.cli.options import Home, Json, command, settings_for
from sz_mcp.settings import FeedbackLevel, Settings

app = typer.Typer(
    help="Make, list and revoke bearer tokens of the HTTP server.", no_args_is_help=True
)

TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="File of bearer tokens; default tokens.toml in the home."),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, - and _.")]


@app.command()
def create(  # noqa: PLR0913 - one parameter per flag
    name: Name,
    agent: Annotated[
        str | None, typer.Option(help="Who the ledger says called; default NAME.")
    ] = None,
    model: Annotated[str, typer.Option(help="Language model behind it.")] = "",
    prompt_tier: Annotated[str, typer.Option(help="user, knowledgeable or expert.")] = "",
    feedback: Annotated[
        FeedbackLevel | None, typer.Option(help="How much it is told; default the server's.")
    ] = None,
    session: Annotated[str, typer.Option(help="In which attempts count; default NAME.")] = "",
    sees: Annotated[
        Literal["session", "agent", "all"],
        typer.Option(help="Whose sources and results it may read, beside shared ones."),
    ] = "agent",
    share: Annotated[
        bool, typer.Option("--share", help="Let every agent read what it sends.")
    ] = False,
    expires: Annotated[
        str | None, typer.Option(metavar="AGE", help="After 12h, 30d or 2w; default never.")
    ] = None,
    file: TokenFile = None,
    home: Home = None,
) -> None:
    """Make a token and print it; it is shown this once and kept as a hash."""
    told = {
        "agent": agent or name, "model": model, "prompt_tier": prompt_tier, "feedback": feedback,
        "session": session, "sees": sees, "share": share,
    }  # fmt: skip
    command("token_commands").create(_settings(file, home), name, told, expires)


@app.command("list")
def list_tokens(
    file: TokenFile = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show whose tokens there are; the tokens themselves nobody knows."""
    command("token_commands").show(_settings(file, home), as_json=json)


@app.command()
def revoke(
    name: Name,
    file: TokenFile = None,
    home: Home = None,
) -> None:
    """Refuse a token from now on, in running servers too."""
    command("token_commands").revoke(_settings(file, home), name)


@app.command("hash")
def hash_tokens(
    file: TokenFile = None,
    home: Home = None,
) -> None:
    """Replace the tokens that a file holds in plain text by their hashes; they stay valid."""
    command("token_commands").hash_all(_settings(file, home))


def _settings(file: Path | None, home: Path | None) -> Settings:
    return settings_for({"http.token_file": file, "home": home})
