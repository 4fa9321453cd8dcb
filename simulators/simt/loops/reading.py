"""A function of LLVM IR as text → blocks of instructions, as far as the pass needs them.

Strict: an instruction that isn't known here raises Refused. Values have names (the pass asks LLVM
for them) and their types come from LLVM, so that of an instruction only its opcode, the names in it
and, for a call, callee and arguments are read from the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PURE = frozenset(
    [
        "add",
        "sub",
        "mul",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
        "fneg",
        "icmp",
        "fcmp",
        "select",
        "zext",
        "sext",
        "trunc",
        "fpext",
        "fptrunc",
        "fptosi",
        "fptoui",
        "sitofp",
        "uitofp",
        "ptrtoint",
        "inttoptr",
        "bitcast",
        "getelementptr",
        "extractelement",
        "insertelement",
        "shufflevector",
        "extractvalue",
        "insertvalue",
        "freeze",
    ]
)
MEMORY = frozenset(("load", "store", "cmpxchg", "atomicrmw"))
_OTHER = frozenset(("fence", "alloca", "call", "phi", "br", "switch", "ret", "unreachable"))
ENDS = frozenset(("br", "switch", "ret", "unreachable"))

_LOCAL = re.compile(r'%("[^"]*"|[-\w.$]+)')
_RESULT = re.compile(r'%("[^"]*"|[-\w.$]+) = ')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_OPCODE = re.compile(r"(?:(?:tail|musttail|notail) )?([a-z_]+)")
_DEBUG = re.compile(r", !dbg !(\d+)")
_METADATA = re.compile(r"(, | )![\w.]+ !\d+")
_CALL = re.compile(r'call .*?@("[^"]*"|[-\w.$]+)\(')
_GROUP = re.compile(r" #\d+$")
_LABEL_USE = re.compile(r'label %("[^"]*"|[-\w.$]+)')
_INCOMING = re.compile(r'\[ (.*?), %("[^"]*"|[-\w.$]+) \]')


class Refused(Exception):
    """What the pass does not do, with the line of the source if it is known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


@dataclass(frozen=True)
class Instruction:
    """One instruction."""

    text: str
    """Without metadata."""
    opcode: str
    result: str
    """Name, or empty."""
    uses: tuple[str, ...]
    """Names of values in it; for a phi those of `incoming`."""
    line: int = 0
    """Of the source; 0: unknown."""
    callee: str = ""
    arguments: tuple[str, ...] = ()
    """Of a call: each as `type attributes value`."""
    incoming: tuple[tuple[str, str], ...] = ()
    """Of a phi: value and block."""
    targets: tuple[str, ...] = ()
    """Of what ends a block."""


@dataclass
class Block:
    """A basic block; the last of `body` ends it."""

    name: str
    body: list[Instruction] = field(default_factory=list)

    @property
    def end(self) -> Instruction:
        """What ends it."""
        return self.body[-1]


@dataclass
class Function:
    """A kernel."""

    arguments: tuple[str, ...]
    types: dict[str, str]
    """Name of a value → its type."""
    blocks: dict[str, Block]
    """In order; the first is the entry."""

    @property
    def entry(self) -> str:
        """Name of the first block."""
        return next(iter(self.blocks))


def read_function(
    text: str, arguments: tuple[str, ...], types: dict[str, str], lines: Mapping[int, int]
) -> Function:
    """text: as LLVM prints it; lines: debug location → line. Raises Refused."""
    function = Function(arguments, types, {})
    block: Block | None = None
    for raw in _joined(text):
        if label := _LABEL.match(raw):
            block = function.blocks.setdefault(label[1], Block(label[1]))
        elif block is None:
            raise Refused("a function whose first block has no name")
        else:
            block.body.append(_instruction(raw.strip(), types, lines))
    return function


def _joined(text: str) -> list[str]:
    """Lines of the body, without comments; a switch is one line."""
    body = text[text.index("{\n") + 2 : text.rindex("}")]
    found: list[str] = []
    open_switch = False
    for raw in body.split("\n"):
        line = raw.rstrip()
        if not raw.startswith(" "):
            line = line.split(" ;")[0].rstrip()
        # What LLVM may assume is of no use here, and has operands that nothing else has.
        if not line or line.startswith((";", "    #dbg")) or " @llvm.assume(" in line:
            continue
        if open_switch:
            found[-1] += " " + line.strip()
            open_switch = not line.strip().startswith("]")
            continue
        found.append(line)
        open_switch = line.lstrip().startswith("switch ") and "]" not in line
    return found


def _instruction(raw: str, types: Mapping[str, str], lines: Mapping[int, int]) -> Instruction:
    debug = _DEBUG.search(raw)
    line = lines.get(int(debug[1]), 0) if debug else 0
    text = _GROUP.sub("", _METADATA.sub("", raw))
    result = _RESULT.match(text)
    rest = text[result.end() :] if result else text
    opcode = _OPCODE.match(rest)
    code = opcode[1] if opcode else ""
    if code not in PURE and code not in MEMORY and code not in _OTHER:
        raise Refused(f"instruction {code or rest[:40]}", line)
    name = result[1] if result else ""
    if code == "phi":
        incoming = tuple(_INCOMING.findall(rest))
        uses = tuple(v[1:] for v, _ in incoming if v.startswith("%"))
        return Instruction(text, code, name, uses, line, incoming=incoming)
    targets = tuple(_LABEL_USE.findall(rest)) if code in ENDS else ()
    uses = tuple(dict.fromkeys(_values(_LABEL_USE.sub("", rest), types, line)))
    if code == "call":
        callee, arguments = _called(rest, line)
        return Instruction(text, code, name, uses, line, callee, arguments)
    return Instruction(text, code, name, uses, line, targets=targets)


def _values(text: str, types: Mapping[str, str], line: int) -> list[str]:
    found = []
    for name in _LOCAL.findall(text):
        if name in types:
            found.append(name)
        elif f"%{name}" not in types:
            raise Refused(f"a name that isn't known: %{name}", line)
    return found


def _called(text: str, line: int) -> tuple[str, tuple[str, ...]]:
    found = _CALL.search(text)
    if found is None:
        raise Refused("a call by a function pointer, or inline assembly", line)
    start = found.end()
    depth, at = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    if text[at:].strip():
        raise Refused(f"a call with {text[at:].strip()[:40]!r}", line)
    return found[1], tuple(_split(text[start : at - 1]))


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def renamed(text: str, names: Mapping[str, str]) -> str:
    """With other names for some values."""
    return _LOCAL.sub(lambda found: "%" + names.get(found[1], found[1]), text)
