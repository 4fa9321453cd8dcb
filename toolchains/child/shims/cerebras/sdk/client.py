"""The appliance's host API: compile, then run by the name of what came of it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from .._errors import NotEmulatedError
from .._link import CONNECTION
from .._runtime import SdkRuntime as _SdkRuntime

__all__ = ["SdkCompiler", "SdkRuntime"]


class SdkCompiler:
    """Compiles programs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """The keywords of the SDK (resource_cpu, …) change nothing here."""

    def __enter__(self) -> SdkCompiler:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to do."""

    def compile(
        self, app_path: str | Path, csl_main: str, options: str = "", out_path: str | Path = "."
    ) -> str:
        """Compile app_path/csl_main with the options of cslc; the name that SdkRuntime takes.

        Errors of the program are raised, with places and carets.
        """
        answer, _ = CONNECTION.ask(
            {
                "do": "compile",
                "folder": str(app_path),
                "main": str(csl_main),
                "options": options,
                "to": str(out_path),
            }
        )
        return str(answer["name"])


class SdkRuntime(_SdkRuntime):
    """As sdkruntimepybind's; `with` loads, runs and stops."""

    def __init__(self, artifact_path: str | Path, *args: Any, **kwargs: Any) -> None:
        """The keywords of the SDK (simulator, …) change nothing here."""
        super().__init__(artifact_path, *args, **kwargs)


def __getattr__(name: str) -> object:
    """Say of what the SDK has that it isn't here."""
    if name == "SdkLauncher":
        raise NotEmulatedError("cerebras.sdk.client.SdkLauncher", "use SdkRuntime")
    raise AttributeError(f"cerebras.sdk.client has no {name}")
