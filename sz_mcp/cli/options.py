"""What the commands share: the home, the settings in force, and how a command's work is found."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from sz_mcp.configuration import Configured, configure
from sz_mcp.settings import Settings

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the ledger; default $SZ_MCP_HOME, else the user's data folder."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="TOML file of settings; default $SZ_MCP_CONFIG."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting of docs/configuration.md."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Bound = Annotated[
    float | None,
    typer.Option(
        help="Largest error, in units of the mode; default 1e-3. For psnr (dB), l2norm and ratio "
        "the target."
    ),
]


@dataclass(frozen=True)
class Sources:
    """Where a command's settings come from, beside its own flags and the environment."""

    config: Path | None = None
    sets: tuple[str, ...] = ()


_GIVEN: ContextVar[Sources] = ContextVar("sz_mcp_sources", default=Sources())  # noqa: B039 - frozen


def remember(config: Path | None, sets: list[str] | None) -> None:
    """Add to what was given before the command; a later --config takes the place of an earlier."""
    before = _GIVEN.get()
    _GIVEN.set(Sources(config or before.config, (*before.sets, *(sets or ()))))


def configured(flags: Mapping[str, object]) -> Configured:
    """The settings in force, with where they come from. Raises SettingsError."""
    sources = _GIVEN.get()
    found = configure(flags, sets=sources.sets, file=sources.config)
    # numba keeps the server's compiled functions beside their source; where it can't, it would look
    # for a home folder and refuse to start without one.
    if not os.access(Path(__file__).parents[1], os.W_OK):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(found.settings.home / "numba"))
    return found


def settings_for(flags: Mapping[str, object]) -> Settings:
    """The settings in force. Raises SettingsError."""
    return configured(flags).settings


def chosen_home(home: Path | None) -> Path:
    """The folder of the ledger. Raises SettingsError."""
    return settings_for({"home": home}).home


def asked_bound(bound: float | None) -> Mapping[str, object]:
    """The argument, if it was given: whether there is a default depends on the mode."""
    return {} if bound is None else {"bound": bound}


def command(name: str) -> ModuleType:
    """The module that does a command's work, imported when the command runs."""
    return importlib.import_module(f"sz_mcp.cli.{name}")
