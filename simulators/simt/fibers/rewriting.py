"""IR of a module for `fibers`: one kernel that finds its variables at run time.

Also, other threads get a turn where a loop may wait for them.

Every use of such a variable becomes a value that is computed when its function is entered, also
where it is part of a constant expression.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from simulators.simt.describing import Place
from simulators.simt.parameters import argument_texts
from simulators.simt.records import KernelInfo, ModuleInfo

_DEFINE = re.compile(r'^define ([^@]*)@("[^"]*"|[\w.$-]+)\((.*)$')
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$-]+)')
_SHARED = re.compile(r'^@("[^"]*"|[\w.$-]+) = .*section "simt_shared"')
_EXPRESSION = re.compile(
    r"\b(getelementptr(?: (?:inbounds|nuw|nusw|inrange\([^()]*\)))*"
    r"|ptrtoint|inttoptr|addrspacecast)"
    r" \(([^()]*)\)"
)
_POLLED = re.compile(r"^\s+%\S+ = (load volatile|load atomic|cmpxchg|atomicrmw)\b")
_ENTRY, _CALL = "simt_entry", "simt_call"


class Unrewritable(Exception):
    """A use of a variable that isn't known here."""


@dataclass(frozen=True)
class Layout:
    """Where variables are."""

    shared: Mapping[str, int]
    """Symbol → offset in the worker's shared memory; dynamic ones follow the static ones."""
    globals: Mapping[str, int]
    """Symbol → index in the table."""

    def __contains__(self, symbol: str) -> bool:
        return symbol in self.shared or symbol in self.globals


@dataclass
class _Body:
    """A function while it is rewritten."""

    layout: Layout
    values: dict[str, str] = field(default_factory=dict)
    """Symbol → name of the value that has its address."""
    entry: list[str] = field(default_factory=list)

    def fresh(self) -> str:
        """A new name."""
        return f"%simt.value{len(self.entry)}"

    def address(self, symbol: str) -> str:
        """The value that is the address of a variable."""
        if symbol not in self.values:
            self.values[symbol] = self._computed(symbol)
        return self.values[symbol]

    def _computed(self, symbol: str) -> str:
        shared = symbol in self.layout.shared
        base = self.fresh()
        callee = "simt_shared_base" if shared else "simt_globals"
        self.entry.append(f"  {base} = call ptr @{callee}()")
        place = self.fresh()
        kind, at = (
            ("i8", self.layout.shared[symbol]) if shared else ("ptr", self.layout.globals[symbol])
        )
        self.entry.append(f"  {place} = getelementptr inbounds {kind}, ptr {base}, i64 {at}")
        if shared:
            return place
        value = self.fresh()
        self.entry.append(f"  {value} = load ptr, ptr {place}, align 8")
        return value

    def line(self, text: str) -> str:
        """A line of the body without those variables."""
        while found := _moved_expression(text, self.layout):
            name, inner = found[1], self._plain(found[2])
            value = self.fresh()
            self.entry.append(f"  {value} = {name} {inner}")
            text = text[: found.start()] + value + text[found.end() :]
        return self._plain(text)

    def _plain(self, text: str) -> str:
        def replaced(found: re.Match[str]) -> str:
            return self.address(found[1]) if found[1] in self.layout else found[0]

        return _SYMBOL.sub(replaced, text)


def _moved_expression(text: str, layout: Layout) -> re.Match[str] | None:
    """The first constant expression with such a variable, or with a value made of one."""
    for found in _EXPRESSION.finditer(text):
        if "%simt.value" in found[2] or any(s in layout for s in _SYMBOL.findall(found[2])):
            return found
    return None


def layout_of(ir: str, info: ModuleInfo, used: Mapping[str, Place]) -> Layout:
    """Places of variables; used: the static shared ones."""
    shared: dict[str, int] = {}
    end = 0
    for symbol, place in used.items():
        shared[symbol] = end = -(-end // place.align) * place.align
        end += place.size
    end = -(-end // 16) * 16
    for line in ir.split("\n"):
        found = _SHARED.match(line)
        if found and found[1] not in shared:
            shared[found[1]] = end
    return Layout(shared, {one.symbol: n for n, one in enumerate(info.globals)})


def rewrite(
    ir: str,
    kernel: KernelInfo,
    layout: Layout,
    *,
    call: str = _CALL,
    kept: Collection[str] = (),
) -> str:
    """The module with only that kernel, called `simt_call` by its parameters' addresses.

    call: another name for that, by which it is called from elsewhere; kept: functions that are
    called from elsewhere, too.

    Raises:
        Unrewritable: a variable's address is part of another one's initial value.
    """
    lines = _places(ir)
    out: list[str] = []
    body: _Body | None = None
    start, theirs = 0, False
    for line in ir.split("\n"):
        if found := _DEFINE.match(line):
            # The engine's own functions have no debug lines.
            body, start, theirs = _Body(layout), len(out) + 2, "!dbg" in line
            out.append(found[0] if found[2] in (_ENTRY, *kept) else _hidden(found))
        elif line == "}" and body is not None:
            out[start:start] = body.entry
            out.append(line)
            body = None
        elif body is not None:
            out.append(body.line(line))
            if theirs and _POLLED.match(line):
                out.append(f"  call void @simt_poll(i32 {_line_of(line, lines)})")
        elif line.startswith("@"):
            out += _variable(line, layout)
        elif not re.match(r"declare .*@simt_call\(", line):
            out.append(line)
    return "\n".join((*out, *_thunk(ir, kernel, call)))


def _hidden(found: re.Match[str]) -> str:
    """A function that is only called from here is internal, so that it goes when unused."""
    words, name, rest = found.groups()
    kept = [
        word for word in words.split()
        if word not in ("dso_local", "weak", "weak_odr", "linkonce", "linkonce_odr", "internal",
                        "hidden", "protected", "local_unnamed_addr")
    ]  # fmt: skip
    rest = re.sub(r" comdat(\(\$[^)]*\))?", "", rest)
    return f"define internal {' '.join(kept)} @{name}({rest}"


def _variable(line: str, layout: Layout) -> Iterable[str]:
    own = _SYMBOL.match(line)
    if own and own[1] in layout:
        return ()
    moved = [symbol for symbol in _SYMBOL.findall(line) if symbol in layout]
    if moved:
        raise Unrewritable(f"the address of {moved[0]} is part of an initial value")
    return (line,)


def _places(ir: str) -> dict[str, int]:
    """Metadata id → line, where it was called from for what was inlined."""
    found = {}
    for one in re.finditer(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)", ir, re.MULTILINE):
        found[one[1]] = int(one[2])
    return found


def _line_of(text: str, lines: Mapping[str, int]) -> int:
    found = re.search(r"!dbg (!\d+)", text)
    return lines.get(found[1], 0) if found else 0


def _thunk(ir: str, kernel: KernelInfo, call: str) -> list[str]:
    """A function that calls the kernel by the addresses of its arguments."""
    how = ("internal ", "alwaysinline ") if call == _CALL else ("", "noinline ")
    define = next(
        line for line in ir.split("\n")
        if (found := _DEFINE.match(line)) and found[2] == kernel.symbol
    )  # fmt: skip
    body = ["", f"define {how[0]}void @{call}(ptr %params) {how[1]}{{"]
    given = []
    for number, text in enumerate(argument_texts(define)):
        kind = text[: text.index(">") + 1] if text.startswith("<") else text.split(" ", 1)[0]
        value = f"%argument{number}"
        body.append(f"  {value}.at = getelementptr inbounds ptr, ptr %params, i64 {number}")
        body.append(f"  {value} = load ptr, ptr {value}.at, align 8")
        if kind != "ptr" or kernel.params[number].pointer:
            body.append(f"  {value}.of = load {kind}, ptr {value}, align 1")
            value = f"{value}.of"
        given.append(f"{text.rsplit(' ', 1)[0]} {value}")
    return [*body, f"  call void @{kernel.symbol}({', '.join(given)})", "  ret void", "}", ""]
