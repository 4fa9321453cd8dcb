"""`sz-mcp fields`: flags become records here; the work is in `field_commands`."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import typer

from sz_mcp.cli.options import Home, chosen_home

app = typer.Typer(
    help="List, add, fetch and inspect the fields that kernels are measured on.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As sz-mcp fields list shows it.")]
Hidden = Annotated[
    bool, typer.Option("--hidden", help="For scoring only: never named to an agent.")
]


@app.command("list")
def list_fields(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    home: Home = None,
) -> None:
    """Show every field: shipped, computed, and registered in this home."""
    _commands().show_list(chosen_home(home), as_json=json)


@app.command()
def add(  # noqa: PLR0913 - one parameter per flag
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Or a Zarr folder.")],
    name: Annotated[str | None, typer.Option(help="Default: made from the file's name.")] = None,
    dims: Annotated[
        str | None, typer.Option(help="Shape of a raw file, slowest axis first: 26x1800x3600.")
    ] = None,
    dtype: Annotated[
        Literal["f32", "f64"] | None, typer.Option(help="Data type of a raw file.")
    ] = None,
    variable: Annotated[
        str | None, typer.Option(help="Of an .npz, NetCDF, HDF5 or Zarr file.")
    ] = None,
    fill: Annotated[
        str | None, typer.Option(help="Value that stands for missing data: 1e35, -9999.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="For example K.")] = None,
    licence: Annotated[str | None, typer.Option(help="Of the data.")] = None,
    source: Annotated[str | None, typer.Option(help="Where the data come from.")] = None,
    endian: Annotated[
        Literal["little", "big"], typer.Option(help="Byte order of a raw file.")
    ] = "little",
    hidden: Hidden = False,
    home: Home = None,
) -> None:
    """Register a file of your own: raw, .npy, .npz, NetCDF, HDF5 or Zarr."""
    asked = {"dims": dims, "dtype": dtype, "variable": variable, "endian": endian}
    wished = {
        "name": name,
        "fill": fill,
        "unit": unit,
        "licence": licence,
        "source": source,
        "hidden": hidden,
    }
    _commands().add(chosen_home(home), file, asked, wished)


@app.command()
def remove(name: Name, home: Home = None) -> None:
    """Forget a registered field. Your own file stays where it is."""
    _commands().remove(chosen_home(home), name)


@app.command()
def show(
    name: Name,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the field, or a slice of it, to this PNG.")
    ] = None,
    home: Home = None,
) -> None:
    """Say all that is known of a field, and look through its values."""
    _commands().show(chosen_home(home), name, picture)


@app.command()
def hide(name: Name, home: Home = None) -> None:
    """Keep a registered field for scoring: agents are no longer told of it."""
    _commands().hide(chosen_home(home), name, hidden=True)


@app.command()
def unhide(name: Name, home: Home = None) -> None:
    """Let agents use a hidden field under its name."""
    _commands().hide(chosen_home(home), name, hidden=False)


@app.command()
def fetch(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[SET[/VARIANT][/FIELD]]", help="For example nyx/temperature."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Folder for the files; default: in the home.")
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option("--from", help="Archive or folder that you downloaded yourself."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the sets; needs no network.")
    ] = False,
    hidden: Hidden = False,
    home: Home = None,
) -> None:
    """Download SDRBench data sets, verify them and register their arrays."""
    if listed or what is None:
        _commands().list_sets(what)
    else:
        _commands().fetch(chosen_home(home), {"what": what, "folder": to, "hidden": hidden}, copy)


def _commands() -> ModuleType:
    return importlib.import_module("sz_mcp.cli.field_commands")
