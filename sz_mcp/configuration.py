"""From a file, the environment and flags to one `Settings`, with where each value came from.

In rising order: defaults, a TOML file, `SZ_MCP_*` variables, flags. The keys are the fields of
`Settings` and of the records in it, such as `budgets.answer_s`; everything said about them, here
and on the reference page, is made from those classes.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import os
import sys
import tomllib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import platformdirs

from sz_mcp import settings as declared
from sz_mcp.errors import SettingsError
from sz_mcp.settings import Least, Settings

PREFIX = "SZ_MCP_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
FLAGS: Mapping[str, str] = {
    "home": "--home DIR",
    "roots": "--root DIR",
    "agent": "--agent NAME",
    "feedback": "--feedback LEVEL",
    "http.address": "--http [HOST:]PORT",
    "http.token_file": "--token-file FILE",
    "http.allow_hosts": "--allow-host NAME",
    "http.allow_unconfined": "--allow-unconfined",
}
"""Keys with a flag of their own; every key can be given as `--set KEY=VALUE`."""


@dataclass(frozen=True)
class Option:
    """One key."""

    key: str
    """Dotted."""
    kind: object
    """Its type, without bounds."""
    least: Least | None
    default: object
    meaning: str

    @property
    def variable(self) -> str:
        """Name in the environment."""
        return PREFIX + self.key.replace(".", "_").upper()


@dataclass(frozen=True)
class Configured:
    """Settings, and where each came from."""

    settings: Settings
    values: Mapping[str, object]
    origins: Mapping[str, str]
    """Key → default, the file's path, a variable or a flag."""


@dataclass(frozen=True)
class _Given:
    """A value as one source has it."""

    value: object
    origin: str
    base: Path
    """What relative paths are relative to."""


def configure(
    flags: Mapping[str, object],
    *,
    sets: Sequence[str] = (),
    file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Configured:
    """The settings in force.

    flags: key → value, None where a flag was not given; sets: `KEY=VALUE` texts.

    Raises:
        SettingsError: says which source, key and value is wrong, and what is right.
    """
    known = {option.key: option for option in options()}
    sources = (
        _of_file(_file(file, environment), known),
        _of_environment(environment, known),
        _of_flags(flags),
        _of_sets(sets, known),
    )
    given: dict[str, _Given] = {}
    for source in sources:
        for key in source.keys() & given.keys():
            _check_overridden(known[key], given[key])
        given |= source
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, option in known.items():
        one = given.get(key)
        values[key] = option.default if one is None else _converted(option, one)
        origins[key] = "default" if one is None else one.origin
    return Configured(_built(Settings, values, ""), values, origins)


def options() -> tuple[Option, ...]:
    """Every key, in the order of the classes."""
    return tuple(_options(Settings, ""))


def page() -> str:
    """The reference page, in Markdown: `python -m sz_mcp.configuration > docs/configuration.md`."""
    groups: dict[str, list[Option]] = {}
    for option in options():
        groups.setdefault(option.key.rpartition(".")[0], []).append(option)
    sections = [_INTRO]
    for group, members in groups.items():
        sections.append(f"## [{group}]\n" if group else "## Top level\n")
        sections += ["| key | value | default | meaning |", "|---|---|---|---|"]
        sections += [_row(option) for option in members]
        sections.append("")
    return "\n".join(sections)


def shown(value: object) -> str:
    """A value as TOML would have it."""
    match value:
        case None:
            return "unset"
        case bool() | int() | float():
            text = f"{value:_}" if isinstance(value, int) and value > 99_999 else f"{value}"
            return text.lower() if isinstance(value, bool) else text
        case tuple():
            return f"[{', '.join(shown(one) for one in value)}]"
    return f'"{value}"'


_INTRO = """\
# Configuration

What a server is told, in rising order of precedence:

1. the defaults below;
2. a TOML file: `--config FILE`, else `$SZ_MCP_CONFIG`, else `sz-mcp/config.toml` in the user's
   configuration folder, if it is there;
3. environment variables: `SZ_MCP_` and the key in capitals, with `_` for `.`: `SZ_MCP_WORKERS`,
   `SZ_MCP_BUDGETS_ANSWER_S`. Lists of folders are separated by `:`, other lists by commas. An
   empty variable counts as none;
4. flags: those in the tables, and `--set KEY=VALUE` for every key, where the value is written as in
   the environment.

Relative folders in a file are relative to the file. A key or variable that does not exist and a
value of the wrong type are errors that name the source, the key and the nearest valid one. `sz-mcp
config` prints what is in force and where each value came from.

```toml
agent = "ada"
roots = ["kernels"]
disk_quota_bytes = 50_000_000_000

[budgets]
shutdown_s = 30
```
"""


def default_home() -> Path:
    """The user's data folder."""
    return platformdirs.user_data_path("sz-mcp")


def _options(record: type[Any], prefix: str) -> list[Option]:
    found: list[Option] = []
    hints = get_type_hints(record, include_extras=True)
    meanings = _meanings(record)
    for field in dataclasses.fields(record):
        kind, key = hints[field.name], prefix + field.name
        if dataclasses.is_dataclass(kind):
            found += _options(_class(kind), f"{key}.")
            continue
        least = None
        if get_origin(kind) is Annotated:
            kind, least = get_args(kind)
        default = default_home() if key == "home" else field.default
        found.append(Option(key, kind, least, default, meanings[field.name]))
    return found


def _class(kind: object) -> type[Any]:
    if not isinstance(kind, type):
        raise TypeError(f"{kind} is no class")
    return kind


def _meanings(record: type[Any]) -> dict[str, str]:
    """Field → the text under it in the source."""
    tree = ast.parse(inspect.getsource(declared))
    (body,) = [
        n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == record.__name__
    ]
    texts: dict[str, str] = {}
    for one, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
            continue
        texts[one.target.id] = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            texts[one.target.id] = " ".join(str(after.value.value).split())
    return texts


def _file(named: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file to read; None if none is named and the usual one is not there."""
    if named is not None:
        return named.expanduser()
    if variable := environment.get(CONFIG_VARIABLE):
        return Path(variable).expanduser()
    usual = platformdirs.user_config_path("sz-mcp") / "config.toml"
    return usual if usual.is_file() else None


def _of_file(path: Path | None, known: Mapping[str, Option]) -> dict[str, _Given]:
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"the configuration file {path} can't be read: {error}") from error
    base = path.absolute().parent
    flat = _flat(tables, "", {key.rpartition(".")[0] for key in known} - {""})
    for key in flat:
        _check_key(key, known, str(path))
    return {key: _Given(value, str(path), base) for key, value in flat.items()}


def _flat(tables: Mapping[str, object], prefix: str, groups: set[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in tables.items():
        if isinstance(value, dict) and prefix + name in groups:
            found |= _flat(value, f"{prefix}{name}.", groups)
        else:
            found[prefix + name] = value
    return found


def _of_environment(
    environment: Mapping[str, str], known: Mapping[str, Option]
) -> dict[str, _Given]:
    by_variable = {option.variable: key for key, option in known.items()}
    found: dict[str, _Given] = {}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name == CONFIG_VARIABLE or not text:
            continue
        if name not in by_variable:
            raise SettingsError(
                f"unknown environment variable {name}{_near(name, by_variable)}: they are "
                f"{', '.join(by_variable)} and {CONFIG_VARIABLE}"
            )
        key = by_variable[name]
        found[key] = _Given(_from_text(known[key], text), f"${name}", Path.cwd())
    return found


def _of_flags(flags: Mapping[str, object]) -> dict[str, _Given]:
    return {
        key: _Given(_plain(value), FLAGS[key].split()[0], Path.cwd())
        for key, value in flags.items()
        if value is not None
    }


def _of_sets(sets: Sequence[str], known: Mapping[str, Option]) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for text in sets:
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"--set {text!r}: give KEY=VALUE, for example --set workers=2")
        _check_key(key, known, "--set")
        found[key] = _Given(_from_text(known[key], value), "--set", Path.cwd())
    return found


def _check_key(key: str, known: Mapping[str, Option], source: str) -> None:
    if key not in known:
        raise SettingsError(
            f"{source}: unknown key {key!r}{_near(key, known)}; the keys are {', '.join(known)}"
        )


def _near(name: str, choices: Mapping[str, object]) -> str:
    # A name without its table is as near as a misspelt one.
    ends = [choice for choice in choices if choice.rpartition(".")[2] == name]
    near = ends or difflib.get_close_matches(name, choices, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _plain(value: object) -> object:
    """A flag's value as a file would have it."""
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def _from_text(option: Option, text: str) -> object:
    """A variable's text as a file would have it; left as text where that fails."""
    if get_origin(option.kind) is tuple:
        of_paths = get_args(option.kind)[0] is Path
        return [one for one in text.split(os.pathsep if of_paths else ",") if one]
    if option.kind in (int, float):
        try:
            return int(text) if option.kind is int else float(text)
        except ValueError:
            return text
    if option.kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    return text


def _converted(option: Option, given: _Given) -> object:
    """The value as `Settings` has it. Raises SettingsError."""
    kind = _present(option.kind)
    name, convert = _KINDS[_origin(kind)]
    try:
        value = convert(given, kind)
    except (TypeError, ValueError):
        wanted = _choices(kind) or name
        raise SettingsError(
            f"{given.origin}: {option.key}: must be {wanted}{_bounds(option.least)}, "
            f"got {given.value!r}"
        ) from None
    least = option.least
    if least and isinstance(value, int | float) and not _allowed(value, least):
        raise SettingsError(
            f"{given.origin}: {option.key}: must be {name}{_bounds(least)}, got {given.value!r}"
        )
    return value


def _check_overridden(option: Option, given: _Given) -> None:
    """A wrong value must not lie in wait for the day that nothing takes its place.

    Folders need not be there. Raises SettingsError.
    """
    texts = _origin(_present(option.kind)) == tuple[Path, ...]
    _converted(dataclasses.replace(option, kind=tuple[str, ...]) if texts else option, given)


def _allowed(value: float, least: Least) -> bool:
    return least.value < value < float("inf") or (value == least.value and not least.above)


def _bounds(least: Least | None) -> str:
    if least is None:
        return ""
    return f" above {least.value:g}" if least.above else f" of at least {least.value:g}"


def _present(kind: object) -> object:
    """T of T | None."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(one for one in get_args(kind) if one is not type(None))
    return kind


def _origin(kind: object) -> object:
    if get_origin(kind) is tuple:
        return tuple[Path, ...] if get_args(kind)[0] is Path else tuple[str, ...]
    return Literal if get_origin(kind) is Literal else kind


def _choices(kind: object) -> str:
    return f"one of {', '.join(get_args(kind))}" if get_origin(kind) is Literal else ""


def _text(given: _Given, _kind: object) -> str:
    if not isinstance(given.value, str) or not given.value:
        raise TypeError
    return given.value


def _choice(given: _Given, kind: object) -> str:
    if given.value not in get_args(kind):
        raise ValueError
    return str(given.value)


def _whole(given: _Given, _kind: object) -> int:
    if not isinstance(given.value, int) or isinstance(given.value, bool):
        raise TypeError
    return given.value


def _number(given: _Given, _kind: object) -> float:
    if not isinstance(given.value, int | float) or isinstance(given.value, bool):
        raise TypeError
    return float(given.value)


def _truth(given: _Given, _kind: object) -> bool:
    if not isinstance(given.value, bool):
        raise TypeError
    return given.value


def _path(given: _Given, kind: object) -> Path:
    return given.base / Path(_text(given, kind)).expanduser()


def _texts(given: _Given, kind: object) -> tuple[str, ...]:
    if not isinstance(given.value, list):
        raise TypeError
    return tuple(_text(dataclasses.replace(given, value=one), kind) for one in given.value)


def _folders(given: _Given, kind: object) -> tuple[Path, ...]:
    paths = [given.base / Path(text).expanduser() for text in _texts(given, kind)]
    missing = [str(path) for path in paths if not path.is_dir()]
    if missing:
        raise SettingsError(f"no folder {', '.join(missing)} ({given.origin})")
    return tuple(path.resolve() for path in paths)


_KINDS: Mapping[object, tuple[str, Callable[[_Given, object], object]]] = {
    str: ("a text", _text),
    int: ("a whole number", _whole),
    float: ("a number", _number),
    bool: ("true or false", _truth),
    Path: ("a path", _path),
    Literal: ("a choice", _choice),
    tuple[str, ...]: ("a list of texts", _texts),
    tuple[Path, ...]: ("a list of folders", _folders),
}
"""Type → how a message names it, and what makes it of a source's value."""


def _built(record: type[Any], values: Mapping[str, object], prefix: str) -> Any:
    hints = get_type_hints(record)
    arguments: dict[str, object] = {}
    for field in dataclasses.fields(record):
        kind, key = hints[field.name], prefix + field.name
        nested = dataclasses.is_dataclass(kind)
        arguments[field.name] = _built(_class(kind), values, f"{key}.") if nested else values[key]
    return record(**arguments)


def _row(option: Option) -> str:
    kind = _present(option.kind)
    value = _choices(kind) or _KINDS[_origin(kind)][0] + _bounds(option.least)
    default = "the user's data folder" if option.key == "home" else f"`{shown(option.default)}`"
    flag = f" `{FLAGS[option.key]}`" if option.key in FLAGS else ""
    named = f"`{option.key}`<br>`${option.variable}`{flag and '<br>' + flag.strip()}"
    return f"| {named} | {value} | {default} | {option.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(page())
