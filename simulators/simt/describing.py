"""What a module defines, read from clang's IR of it, and that IR made plain for the engines.

Kernels, shared variables and launch bounds carry annotations (include/simt/base.h), constants a
section. Afterwards a shared variable is in section "simt_shared", one of those that has no initial
value is dynamic, the annotations are gone, and every parameter of a kernel is one argument: a
struct is a `ptr` to its bytes, never pieces in registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .constants import NotData, Reader
from .parameters import arguments_of, parameter_sizes, plain_kernel
from .records import Global, KernelInfo, ModuleInfo, Param, Source

SHARED, CONSTANT = "simt_shared", "simt_constant"
_GLOBAL = re.compile(
    r'^@("[^"]*"|[\w.$-]+) = ((?:[a-z_]+(?:\([^)]*\))? )*?)(global|constant) (.*)$'
)
_DEFINE = re.compile(r'^define [^@]*@("[^"]*"|[\w.$-]+)\(')
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$-]+)')
_ANNOTATION = re.compile(r"\{ ptr @([^ ,]+), ptr @([^ ,]+), ptr @[^ ,]+, i32 \d+, ptr (\S+) \}")
_DROPPED = re.compile(r"@(llvm\.(compiler\.)?used|llvm\.global\.annotations|simt_name_\d+)\b")
_TYPE = re.compile(r'^(%"[^"]*"|%\S+) = type (.*)$')
_ASKED = re.compile(r"^@simt_name_(\d+) = .*?ptr @([^ ,]+)")
_METADATA = re.compile(r'^@(\S+) = (.*"llvm\.metadata".*)$')
_TITLE = re.compile(r'^(!\d+) = [^(]*!DISubprogram\(name: "([^"]*)"')
_ALIGN = re.compile(r", align (\d+)")


@dataclass(frozen=True)
class Place:
    """Size and alignment of a variable, in bytes."""

    size: int
    align: int


@dataclass(frozen=True)
class Described:
    """A module's content; the sizes of struct parameters may still be missing."""

    info: ModuleInfo
    ir: str
    shared: Mapping[str, Mapping[str, Place]]
    """Kernel → the static shared variables that it reaches, in order."""
    needs_types: bool = False

    def with_types(self, debug: str) -> Described:
        """With sizes of parameters from the module's IR with all debug information."""
        sizes = parameter_sizes(debug)
        kernels = tuple(
            replace(one, params=_sized(one.params, sizes.get(one.symbol, ())))
            for one in self.info.kernels
        )
        return replace(self, info=replace(self.info, kernels=kernels), needs_types=False)


@dataclass(frozen=True)
class _Module:
    """The parts of a module that say what is what."""

    types: Mapping[str, str]
    """Named types: %name → body."""
    marks: Mapping[str, Mapping[str, str]]
    """Symbol → annotation → the value of its first argument."""
    asked: Mapping[str, str]
    """Symbol → the name expression that asked for it."""
    titles: Mapping[str, str]
    """Metadata id → name of the function that it describes."""


@dataclass
class _Found:
    """What has been read."""

    lines: list[str] = field(default_factory=list)
    kernels: list[KernelInfo] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    shared: dict[str, Place] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    """Function → symbols in its body."""
    needs_types: bool = False


def describe(ir: str, source: Source) -> Described:
    """Read clang's IR of a module."""
    lines = ir.split("\n")
    module = _module(lines, source)
    found = _Found()
    body: set[str] | None = None
    for line in lines:
        if line.startswith("@"):
            _variable(line, module, found)
        elif start := _DEFINE.match(line):
            body = found.uses.setdefault(start[1], set())
            _function(start[1], line, module, found)
        elif line == "}":
            body = None
            found.lines.append(line)
        else:
            if body is not None and "@" in line:
                body.update(_SYMBOL.findall(line))
            found.lines.append(line)
    shared = {one.symbol: _reached(one.symbol, found) for one in found.kernels}
    kernels = tuple(
        replace(one, shared_bytes=_bytes(shared[one.symbol].values())) for one in found.kernels
    )
    info = ModuleInfo(kernels, tuple(found.globals))
    return Described(info, "\n".join(found.lines), shared, found.needs_types)


def _module(lines: Iterable[str], source: Source) -> _Module:
    types: dict[str, str] = {}
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    asked: dict[str, str] = {}
    annotations = ""
    for line in lines:
        if found := _TYPE.match(line):
            types[found[1]] = found[2]
        elif found := _ASKED.match(line):
            asked[found[2]] = source.names[int(found[1])]
        elif line.startswith("@llvm.global.annotations"):
            annotations = line
        elif found := _METADATA.match(line):
            texts[found[1]] = found[2]
        elif found := _TITLE.match(line):
            titles[found[1]] = found[2]
    return _Module(types, _marks(annotations, texts), asked, titles)


def _marks(annotations: str, texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    marks: dict[str, dict[str, str]] = {}
    for symbol, text, argument in _ANNOTATION.findall(annotations):
        said = re.search(r'c"([^"\\]*)', texts.get(text, ""))
        value = re.search(r"\{ i32 (\d+)", texts.get(argument.removeprefix("@"), ""))
        if said:
            marks.setdefault(symbol, {})[said[1]] = value[1] if value else ""
    return marks


def _variable(line: str, module: _Module, found: _Found) -> None:
    """A global variable: shared, of the module, dropped, or kept as it is."""
    if _DROPPED.match(line) or 'section "llvm.metadata"' in line:
        return
    parsed = _GLOBAL.match(line)
    if parsed is None:
        found.lines.append(line)
        return
    symbol, flags, _, rest = parsed.groups()
    reader = Reader(rest, module.types)
    external = "external " in flags
    if external or "simt_shared" in module.marks.get(symbol, ()):
        made = reader.type()
        if not external:
            found.shared[symbol] = Place(made.size, _align(rest, made.align))
        found.lines.append(_in_section(line))
    elif "externally_initialized" in flags:
        found.globals.append(_global(symbol, rest, reader, module))
        found.lines.append(line)
    else:
        found.lines.append(line)


def _in_section(line: str) -> str:
    start = line.find(", align ")
    comdat = line.find(", comdat")
    at = min((i for i in (start, comdat) if i >= 0), default=len(line))
    return f'{line[:at]}, section "{SHARED}"{line[at:]}'


def _align(rest: str, least: int) -> int:
    given = _ALIGN.findall(rest)
    return int(given[-1]) if given else least


def _global(symbol: str, rest: str, reader: Reader, module: _Module) -> Global:
    made = reader.type()
    try:
        content = reader.constant(made)
    except NotData as error:
        raise NotData(f"initial value of {symbol}: {error}") from error
    init = content if any(content) else b""
    constant = f'section "{CONSTANT}"' in rest
    name = module.asked.get(symbol, _spelled(symbol)).lstrip("&")
    return Global(name, symbol, made.size, _align(rest, made.align), constant, init)


def _spelled(symbol: str) -> str:
    """A variable's name in C++: those in namespaces are mangled as _ZN, lengths and names, E."""
    if not (found := re.fullmatch(r"_ZNK?L?((?:\d+\w+?)+)E", symbol)):
        return re.sub(r"^_ZL\d+", "", symbol)
    parts, rest = [], found[1]
    while digits := re.match(r"L?(\d+)", rest):
        start, length = digits.end(), int(digits[1])
        parts.append(rest[start : start + length])
        rest = rest[start + length :]
    return "::".join(parts)


def _function(symbol: str, line: str, module: _Module, found: _Found) -> None:
    marks = module.marks.get(symbol, {})
    if "simt_kernel" not in marks:
        found.lines.append(line)
        return
    arguments = arguments_of(line, module.types)
    found.lines += plain_kernel(line, arguments)
    found.needs_types |= any(one.struct for one in arguments)
    described = re.search(r"!dbg (!\d+)", line)
    title = module.titles.get(described[1], symbol) if described else symbol
    params = tuple(Param(one.name, one.size, one.align, one.pointer, one.kind) for one in arguments)
    most = int(marks.get("simt_bounds") or 1024)
    name = module.asked.get(symbol, title)
    found.kernels.append(KernelInfo(name, symbol, params, 0, most))


def _reached(symbol: str, found: _Found) -> dict[str, Place]:
    """The static shared variables that a kernel and what it calls use."""
    reached, waiting = set[str](), [symbol]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += found.uses.get(one, ())
    return {name: place for name, place in found.shared.items() if name in reached}


def _bytes(places: Iterable[Place]) -> int:
    """Of variables one after the other."""
    total = 0
    for place in places:
        total = -(-total // place.align) * place.align + place.size
    return total


def _sized(params: tuple[Param, ...], sizes: tuple[int, ...]) -> tuple[Param, ...]:
    """With the sizes that debug information has; a struct's alignment divides its size."""
    if len(sizes) != len(params):
        return params
    return tuple(
        replace(one, size=size, align=max(one.align, min(16, size & -size)) if size else 1)
        for one, size in zip(params, sizes, strict=True)
    )
