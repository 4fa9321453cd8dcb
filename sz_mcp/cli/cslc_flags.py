"""`cslc` and `cs-python` as commands: their arguments are passed on as they are."""

from __future__ import annotations

import typer

from sz_mcp.cli.options import command

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Of typer's context: the vendor's options are not of its kind (`-o=out`)."""


def cslc(context: typer.Context) -> None:
    """Compile a CSL program for the simulated wafer, with the options of the vendor's cslc."""
    raise typer.Exit(command("cslc").run(context.args))


def cs_python(context: typer.Context) -> None:
    """Run a host program of the Cerebras SDK against the simulated wafer."""
    raise typer.Exit(command("cs_python").run(context.args))
