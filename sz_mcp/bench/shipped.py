"""The specs that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

from sz_mcp.bench.errors import SpecError

_FOLDER = Path(__file__).parent / "specs"


def names() -> tuple[str, ...]:
    """Of all."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def find(given: str) -> Path:
    """The file of a spec, by path or name. Raises SpecError."""
    path = Path(given)
    if path.is_file():
        return path
    if given in names():
        return _FOLDER / f"{given}.yaml"
    raise SpecError(f"there is no file {given}, nor a spec of that name: {', '.join(names())}")
