"""The standard library: modules in CSL, imported by their names in angle brackets."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

_FOLDER = Path(__file__).parent


def text(name: str) -> str | None:
    """The text of a module by its name without brackets; None if there is none."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return None
    file = _FOLDER / f"{path}.csl"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def names() -> list[str]:
    """Of all modules."""
    return sorted(
        file.relative_to(_FOLDER).with_suffix("").as_posix() for file in _FOLDER.rglob("*.csl")
    )
