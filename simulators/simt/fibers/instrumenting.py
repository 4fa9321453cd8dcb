"""Instrumented IR of a module: every access and branch of its functions tells its site.

A site is one instruction; the number that it tells is its index in the list of sites. What is
counted is what clang left after optimising for this processor: the accesses of a GPU's compiler are
about, not exactly, the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

ACCESS, BRANCH = "simt_counted_access", "simt_counted_branch"
DECLARED = (
    f"declare void @{ACCESS}(ptr, i32, i64)",
    f"declare void @{BRANCH}(i32, i64)",
    "declare ptr @simt_shared_base()",
    "declare ptr @simt_globals()",
    "declare void @simt_poll(i32)",
)
_WIDEST = 16
"""Bytes that a thread of a GPU accesses at once."""
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_LOAD = re.compile(r"  %\S+ = load (?P<how>(?:atomic |volatile )*)(?P<type>.+)$")
_STORE = re.compile(r"  store (?P<how>(?:atomic |volatile )*)(?P<rest>.+)$")
_ATOMIC = re.compile(
    r"  %\S+ = (?:atomicrmw (?:volatile )?\w+|cmpxchg (?:weak )?(?:volatile )?) ?ptr "
)
_COPY = re.compile(r"  (?:tail )?call void @llvm\.(?P<kind>memcpy|memmove|memset)\.[^(]*\(")
_OFFSET = re.compile(r"  (%\S+) = getelementptr (?:\w+ )*i8, ptr (%[^,]+), i64 (\d+)")
_ALIGN = re.compile(r", align (\d+)")
_ATTRIBUTES = re.compile(
    r"^ptr (?:(?:align \d+|nonnull|noundef|readonly|writeonly|captures\([^)]*\)"
    r"|dereferenceable\(\d+\)) )*"
)
_BRANCH = re.compile(r"  br i1 (?P<value>[^,]+), label")


@dataclass(frozen=True)
class Site:
    """One instruction of the source."""

    kind: str
    """load | store | atomic | branch"""
    size: int
    """Bytes of one thread."""
    line: int
    file: str
    ordered: bool = False
    """Volatile or atomic: no race."""
    valued: bool = False
    """Whether what it stores is told."""


@dataclass
class _Sites:
    places: Mapping[str, tuple[int, str]]
    found: list[Site] = field(default_factory=list)
    near: tuple[int, str] = (0, "")
    """Of the instruction before."""
    offsets: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Address → another one and the bytes from there, in this stretch of code."""
    wide: dict[tuple[str, str, int], tuple[int, int]] = field(default_factory=dict)
    """Address, kind and line of what may be the first part of an access of a vector → its site and
    alignment."""

    def begin(self) -> None:
        """What comes may not run with what came before."""
        self.offsets.clear()
        self.wide.clear()

    def joined(self, pointer: str, site: Site, align: int) -> bool:
        """Whether it is the rest of a vector of which clang made several accesses.

        What is aligned to more than its size is part of something larger.
        """
        base, offset = self.offsets.get(pointer, (pointer, 0))
        key = (base, site.kind, site.line)
        first, room = self.wide.get(key, (0, 0))
        if 0 < offset < room and offset + site.size <= room:
            of = self.found[first]
            size = max(of.size, offset + site.size)
            self.found[first] = replace(of, size=size, valued=False)
            return True
        if offset == 0 and site.size < align <= _WIDEST:
            self.wide[key] = (len(self.found), align)
        return False

    def access(self, pointer: str, value: str, site: Site) -> str:
        """A call that tells it."""
        self.found.append(site)
        return f"  call void @{ACCESS}(ptr {pointer}, i32 {len(self.found) - 1}, i64 {value})"


def instrument(ir: str) -> tuple[str, tuple[Site, ...]]:
    """The module and its sites."""
    sites = _Sites(_places(ir))
    out: list[str] = []
    theirs = False
    for line in ir.split("\n"):
        if line.startswith("define "):
            theirs = "!dbg" in line
            sites.near = (0, "")
        if not line.startswith("  ") or "@__simt_" in line:
            sites.begin()
        if theirs and line.startswith("  "):
            out += _told(line, sites)
            sites.near = _place(line, sites)
        out.append(line)
    return "\n".join((*out, *DECLARED, "")), tuple(sites.found)


def _told(line: str, sites: _Sites) -> Iterator[str]:
    if found := _LOAD.match(line):
        kind, pointer, *_ = _split(found["type"])
        yield from _one("load", kind, pointer, sites, (line, found["how"]))
    elif found := _STORE.match(line):
        typed, pointer, *_ = _split(found["rest"])
        yield from _one("store", typed, pointer, sites, (line, found["how"]))
    elif found := _ATOMIC.match(line):
        pointer, typed, *_ = _split(line[found.end() - 4 :])
        yield from _one("atomic", typed, pointer, sites, (line, "atomic "))
    elif found := _COPY.match(line):
        yield from _copies(found["kind"], _split(line[found.end() :]), sites, line)
    elif found := _OFFSET.match(line):
        sites.offsets[found[1]] = (found[2], int(found[3]))
    elif found := _BRANCH.match(line):
        number, name = len(sites.found), f"%simt.site{len(sites.found)}"
        sites.found.append(Site("branch", 0, *_place(line, sites)))
        yield f"  {name} = zext i1 {found['value']} to i64"
        yield f"  call void @{BRANCH}(i32 {number}, i64 {name})"


def _one(kind: str, typed: str, pointer: str, sites: _Sites, of: tuple[str, str]) -> Iterator[str]:
    """typed: a type, of a store with its value; of: the line, and how it accesses."""
    line, how = of
    type_, value = _value_of(typed) if kind == "store" else (typed.split(" ")[0], "")
    if kind == "load":
        type_ = typed
    size = _size(type_)
    if size is None:
        return
    site = Site(kind, size, *_place(line, sites), ordered=bool(how))
    aligned = _ALIGN.search(line)
    if not how and sites.joined(pointer[4:], site, int(aligned[1]) if aligned else 1):
        return
    name = "0"
    if value and (steps := _as_whole(type_, value, f"%simt.site{len(sites.found)}")):
        yield from steps
        name = f"%simt.site{len(sites.found)}"
    yield sites.access(_address(pointer), name, replace(site, valued=name != "0"))


def _copies(kind: str, arguments: list[str], sites: _Sites, line: str) -> Iterator[str]:
    """A copy of so many bytes, where that is known."""
    found = re.search(r"i64 (\d+)$", arguments[2])
    if found is None:
        return
    place = _place(line, sites)
    for what, argument in zip(
        ("store", "load"), arguments[: 1 if kind == "memset" else 2], strict=False
    ):
        yield sites.access(_address(argument), "0", Site(what, int(found[1]), *place))


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _address(operand: str) -> str:
    """`ptr align 4 %x seq_cst` → %x; constant expressions as they are."""
    text = _ATTRIBUTES.sub("", operand)
    if "(" not in text:
        return text.split(" ")[0]
    return text[: text.rindex(")") + 1] if not text.startswith(("%", "@")) else text.split(" ")[0]


def _value_of(typed: str) -> tuple[str, str]:
    """A type and a value; types may have blanks inside brackets."""
    if typed[0] in "<[{":
        end = _closing(typed)
        return typed[:end], typed[end:].strip()
    type_, _, value = typed.partition(" ")
    return type_, value


def _closing(text: str) -> int:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "<[{") - (letter in ">]}")
        if depth == 0:
            return at + 1
    return len(text)


def _size(type_: str) -> int | None:
    """Bytes; None for structs."""
    if found := re.match(r"[<\[](\d+) x (.+)[>\]]$", type_):
        one = _size(found[2])
        return None if one is None else int(found[1]) * one
    if found := re.match(r"i(\d+)$", type_):
        return max(1, int(found[1]) // 8)
    return _BITS[type_] // 8 if type_ in _BITS else None


def _as_whole(type_: str, value: str, name: str) -> tuple[str, ...]:
    """Steps that make a number of 64 bits of a value, under that name; none for vectors."""
    if re.match(r"i\d+$", type_) and int(type_[1:]) <= 64:
        if type_ == "i64":
            return (f"  {name} = add i64 {value}, 0",)
        return (f"  {name} = zext {type_} {value} to i64",)
    if type_ == "ptr":
        return (f"  {name} = ptrtoint ptr {value} to i64",)
    if type_ == "double":
        return (f"  {name} = bitcast double {value} to i64",)
    if type_ in _BITS:
        whole = f"i{_BITS[type_]}"
        return (
            f"  {name}.bits = bitcast {type_} {value} to {whole}",
            f"  {name} = zext {whole} {name}.bits to i64",
        )
    return ()


def _place(line: str, sites: _Sites) -> tuple[int, str]:
    """Its line and file; where clang merged instructions and left neither, those before it."""
    found = re.search(r"!dbg (!\d+)", line)
    place = sites.places.get(found[1], (0, "")) if found else (0, "")
    return place if place[0] else sites.near


def _places(ir: str) -> dict[str, tuple[int, str]]:
    """Metadata id of a location → its line and file."""
    files = _fields(ir, r"^(!\d+) = !DIFile\(filename: \"([^\"]*)\"")
    scopes = dict(
        _fields(ir, r"^(!\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock\w*)\(.*?file: (!\d+)")
    )
    found = {}
    pattern = r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+),.*?scope: (!\d+)"
    for one in re.finditer(pattern, ir, re.MULTILINE):
        found[one[1]] = (int(one[2]), files.get(scopes.get(one[3], ""), ""))
    return found


def _fields(ir: str, pattern: str) -> dict[str, str]:
    return {one[1]: one[2] for one in re.finditer(pattern, ir, re.MULTILINE)}


def lines_of(sites: Iterable[Site]) -> list[list[object]]:
    """As the bundle's meta has them."""
    return [[s.kind, s.size, s.line, s.file, s.ordered, s.valued] for s in sites]
