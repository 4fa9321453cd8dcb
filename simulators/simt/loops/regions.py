"""The code of a region: from a suspension point to the next ones, for one thread of the block.

What a thread carries over is read at its start and written where it leaves. A value that the region
both starts from and defines lives in a variable meanwhile; LLVM makes values of those again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .frame import Frame, bytes_of
from .liveness import Carried
from .reading import Block, Instruction
from .saturating import saturated
from .splitting import FAIL, SUSPEND, Point, Split, constant, rewritten
from .symbols import Symbols

_ORDERED = re.compile(r"\b(load|store) (volatile|atomic)|\bcmpxchg |\batomicrmw |\bfence ")
_SATURATING = re.compile(r"llvm\.fpto([su])i\.sat\.i(\d+)\.(f32|f64)")
_NARROW = ("i1", "i8", "i16", "i32")
PARALLEL = ", !llvm.access.group !1"
LATCH = "simt..latch"


@dataclass(frozen=True)
class Kernel:
    """A kernel on its way to code."""

    split: Split
    carried: Carried
    frame: Frame
    private: tuple[str, ...]
    """Lines that make local arrays which no suspension point sees."""
    symbols: Symbols
    arguments: tuple[tuple[str, str], ...]
    """Name and type of the parameters of the kernel."""
    uses: Mapping[str, list[Instruction]]

    @property
    def types(self) -> Mapping[str, str]:
        """Of all values."""
        return self.split.function.types


@dataclass
class Region:
    """The text of a region."""

    number: int
    head: list[str] = field(default_factory=list)
    """Before the loop over threads."""
    body: list[str] = field(default_factory=list)
    """For one thread, from the label `simt..start` to a jump to LATCH."""
    exits: list[tuple[str, int]] = field(default_factory=list)
    """Block → point it leaves to; 0: the thread's end."""
    parallel: bool = True
    """Whether threads touch no memory in common that they may not."""

    @property
    def targets(self) -> tuple[int, ...]:
        """Points that it leads to."""
        return tuple(dict.fromkeys(point for _, point in self.exits))


def make_region(kernel: Kernel, number: int) -> Region:
    """The region that starts at a point (0: the kernel's start)."""
    return _Maker(kernel, number).made()


class _Maker:
    """Makes one region."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self.kernel, self.number = kernel, number
        self.types = kernel.split.function.types
        self.points = kernel.split.points
        start = self.points[number - 1].resume if number else kernel.split.function.entry
        self.blocks = _reached(kernel.split, start)
        self.start = start
        self.sources: dict[str, set[str]] = {}
        for block in self.blocks:
            for target in block.end.targets:
                self.sources.setdefault(target, set()).add(block.name)
        self.defined = {
            one.result for block in self.blocks for one in block.body if one.result
        } - kernel.carried.fixed
        if number and self.points[number - 1].result:
            self.defined.add(self.points[number - 1].result)
        self.used = {use for block in self.blocks for one in block.body for use in one.uses}
        self.live = kernel.carried.at[number]
        self.region = Region(number)
        self.names: dict[str, str] = {}
        """Value that lives in a variable → the variable."""
        self.done: dict[str, str] = {}
        """Value at the start → its name there."""
        self.counter = 0

    def made(self) -> Region:
        """The region."""
        region = self.region
        # LLVM would make vectors of volatile and atomic accesses, too.
        region.parallel = not self.kernel.private and not any(
            _ORDERED.search(one.text) for block in self.blocks for one in block.body
        )
        region.exits = [
            (block.name, self._target(block.end)) for block in self.blocks if self._leaves(block)
        ]
        kept = set[str]()
        for _, point in region.exits:
            kept |= self.kernel.carried.kept(point) if point else set()
        self._arrays()
        variables = {n for n in self.live & self.defined if n in self.used or n in kept}
        self.names = {name: f"simt..var{i}" for i, name in enumerate(sorted(variables))}
        region.body.append("simt..start:")
        self._begin()
        region.body.append(f"  br label %{self.start}")
        tails = self._tails()
        for block in self.blocks:
            self._block(block, tails.get(block.name, []))
        return region

    def _leaves(self, block: Block) -> bool:
        return block.end.opcode in (SUSPEND, FAIL, "ret")

    def _target(self, end: Instruction) -> int:
        return int(end.text) if end.opcode == SUSPEND else 0

    def _arrays(self) -> None:
        """Local arrays: of the region, or of every thread."""
        for name, (offset, size) in self.kernel.frame.arrays.items():
            at = self.fresh("array")
            self.region.body += [
                f"  {at} = mul nuw nsw i64 %simt..t64, {size}",
                f"  {at}.o = add nuw nsw i64 {at}, {offset}",
                f"  %{name} = getelementptr inbounds i8, ptr %simt..spill, i64 {at}.o",
            ]
        arrays, self.region.body = self.region.body, []
        self.array_lines = arrays

    def fresh(self, what: str) -> str:
        """A new name."""
        self.counter += 1
        return f"%simt..{what}.{self.counter}"

    def _begin(self) -> None:
        """What the thread starts from."""
        region = self.region
        region.body += self.array_lines
        for name, variable in self.names.items():
            region.head.append(f"  %{variable} = alloca {self.types[name]}")
        if self.number and (result := self.points[self.number - 1].result):
            self._result(self.points[self.number - 1], result)
        for name in sorted(self.live):
            if name in self.names or (name in self.used and name not in self.defined):
                self._materialise(name)
        for name, variable in self.names.items():
            region.body.append(f"  store {self.types[name]} {self.done[name]}, ptr %{variable}")

    def _result(self, point: Point, result: str) -> None:
        kind = self.types[result]
        narrow = result_narrow(self.kernel, point)
        loaded = "i32" if narrow else "i64"
        value = self.fresh("given")
        self._load(value, loaded, self.kernel.frame.fixed["narrow_result" if narrow else "result"])
        code = "add" if loaded == kind else "zext" if kind == "i64" else "trunc"
        text = f"add i64 {value}, 0" if loaded == kind else f"{code} {loaded} {value} to {kind}"
        if loaded == kind == "i32":
            text = f"add i32 {value}, 0"
        self.region.body.append(f"  %{result} = {text}")

    def _materialise(self, name: str) -> str:
        """The value at the start of the region: its name there."""
        if name in self.kernel.split.base:
            return f"%{name}"
        if name not in self.done:
            other = self.fresh("in") if name in self.defined else f"%{name}"
            self.done[name] = other
            if name in self.kernel.carried.anew:
                one = self.kernel.carried.definitions[name]
                given = {use: self._materialise(use)[1:] for use in one.uses}
                text = rewritten(one, given)
                self.region.body.append(f"  {other} = {text.split(' = ', 1)[1]}")
            else:
                self._restore(name, other)
        return self.done[name]

    def _restore(self, name: str, other: str) -> None:
        kind = self.types[name]
        offset = self.kernel.frame.slot(name, kind)
        if _stored(kind) == kind:
            self._load(other, kind, offset)
        else:
            self._load(f"{other}.s", _stored(kind), offset)
            self.region.body.append(f"  {other} = trunc {_stored(kind)} {other}.s to {kind}")

    def _at(self, kind: str, offset: int) -> str:
        """Address of this thread's element of an array of the frame."""
        at = self.fresh("at")
        self.region.body += [
            f"  {at}.b = getelementptr inbounds i8, ptr %simt..spill, i64 {offset}",
            f"  {at} = getelementptr inbounds {kind}, ptr {at}.b, i64 %simt..t64",
        ]
        return at

    def _load(self, name: str, kind: str, offset: int) -> None:
        at = self._at(kind, offset)
        text = f"  {name} = load {kind}, ptr {at}, align {min(bytes_of(kind), 16)}"
        self.region.body.append(text + PARALLEL)

    def _store(self, value: str, kind: str, offset: int) -> None:
        at = self._at(kind, offset)
        text = f"  store {kind} {value}, ptr {at}, align {min(bytes_of(kind), 16)}"
        self.region.body.append(text + PARALLEL)

    def _tails(self) -> dict[str, list[tuple[str, str]]]:
        """Block → variables to be read at its end for phis of other blocks: their new names."""
        self.phi_names: dict[tuple[str, str], str] = {}
        tails: dict[str, list[tuple[str, str]]] = {}
        for block in self.blocks:
            for one in block.body:
                for value, source in one.incoming:
                    name = value[1:] if value.startswith("%") else ""
                    if name in self.names and (source, name) not in self.phi_names:
                        other = self.fresh("tail")
                        self.phi_names[source, name] = other
                        tails.setdefault(source, []).append((name, other))
        return tails

    def _block(self, block: Block, tails: list[tuple[str, str]]) -> None:
        body = self.region.body
        body.append(f"{block.name}:")
        late: list[str] = []
        sources = self.sources.get(block.name, set())
        for one in block.body[:-1]:
            if one.opcode == "phi":
                body.append(self._phi(one, sources))
                late += self._defined(one)
                continue
            body += late
            late = []
            if one.result in self.kernel.carried.fixed and one.result in self.done:
                continue
            body.extend(self._instruction(one))
        body += late
        for name, other in tails:
            body.append(f"  {other} = load {self.types[name]}, ptr %{self.names[name]}")
        self._end(block)

    def _phi(self, phi: Instruction, sources: set[str]) -> str:
        kept = []
        for value, source in phi.incoming:
            if source in sources:
                name = value[1:] if value.startswith("%") else ""
                kept.append(f"[ {self.phi_names.get((source, name), value)}, %{source} ]")
        return f"  %{phi.result} = phi {self.types[phi.result]} {', '.join(kept)}"

    def _defined(self, one: Instruction) -> Iterator[str]:
        if one.result in self.names:
            kind = self.types[one.result]
            yield f"  store {kind} %{one.result}, ptr %{self.names[one.result]}"

    def _instruction(self, one: Instruction) -> Iterator[str]:
        if one.opcode == "alloca":
            return
        given = {}
        for use in one.uses:
            if use in self.names:
                other = self.fresh("use")
                given[use] = other[1:]
                yield f"  {other} = load {self.types[use]}, ptr %{self.names[use]}"
        if saturating := _SATURATING.fullmatch(one.callee):
            value = rewritten(one, given).rsplit(" ", 1)[1].rstrip(")")
            yield from saturated(one.result, value, saturating[1], saturating[2], saturating[3])
            yield from self._defined(one)
            return
        touches = one.opcode in ("load", "store", "cmpxchg", "atomicrmw")
        yield f"  {rewritten(one, given)}{PARALLEL if touches else ''}"
        yield from self._defined(one)

    def _end(self, block: Block) -> None:
        end = block.end
        body = self.region.body
        if not self._leaves(block):
            body.extend(self._instruction(end))
            return
        if end.opcode == SUSPEND:
            point = self.points[int(end.text) - 1]
            self._operands(point)
            for name in sorted(self.kernel.carried.kept(point.number)):
                if name in self.defined:
                    self._keep(name)
        elif end.opcode == FAIL:
            line, code = end.text.split(" ")
            body.append(
                f"  call void @simt_fail(ptr %simt..context, i64 2, i32 {line}, i32 %simt..t, "
                f"i64 {code}, i64 0, i64 0)"
            )
        body.append(f"  br label %{LATCH}")

    def _now(self, value: str) -> str:
        """A value, read from its variable if it lives in one."""
        name = value[1:] if value.startswith("%") else ""
        if name not in self.names:
            return value
        other = self.fresh("use")
        self.region.body.append(f"  {other} = load {self.types[name]}, ptr %{self.names[name]}")
        return other

    def _keep(self, name: str) -> None:
        kind, value = self.types[name], self._now(f"%{name}")
        offset = self.kernel.frame.slot(name, kind)
        if _stored(kind) != kind:
            wide = self.fresh("wide")
            self.region.body.append(f"  {wide} = zext {kind} {value} to {_stored(kind)}")
            kind, value = _stored(kind), wide
        self._store(value, kind, offset)

    def _operands(self, point: Point) -> None:
        fixed = self.kernel.frame.fixed
        for name, value in point.operands.items():
            if name == "op" or (name != "value" and constant(value) is not None):
                continue
            kind = "i32" if name in ("arg", "width") else "i64"
            now = self._now(value)
            if name == "value":
                given = "i32" if point.kind in (2, 5) else "i64"
                kind = "i32" if value_narrow(self.kernel, point) else "i64"
                if kind != given:
                    narrow = self.fresh("narrow")
                    self.region.body.append(f"  {narrow} = trunc i64 {now} to i32")
                    now = narrow
                name = "narrow_value" if kind == "i32" else name
            self._store(now, kind, fixed[name])


def _stored(kind: str) -> str:
    """The type in memory: bits are bytes."""
    return "i8" if kind == "i1" else kind


def value_narrow(kernel: Kernel, point: Point) -> bool:
    """Whether 32 bits of its value are enough."""
    value = point.operands.get("value", "0")
    if point.kind in (2, 5):
        return True
    number = constant(value)
    if number is not None:
        return 0 <= number < 1 << 32
    one = kernel.carried.definitions.get(value[1:])
    return one is not None and one.opcode == "zext" and kernel.types.get(one.uses[0]) in _NARROW


def result_narrow(kernel: Kernel, point: Point) -> bool:
    """Whether only 32 bits of its result are used."""
    if not point.result or kernel.types[point.result] == "i32":
        return True
    uses = kernel.uses.get(point.result, ())
    return all(one.opcode == "trunc" and kernel.types[one.result] in _NARROW for one in uses)


def _reached(split: Split, start: str) -> list[Block]:
    """Blocks from there on, up to where threads wait, in the kernel's order."""
    seen, waiting = {start}, [start]
    while waiting:
        block = split.function.blocks[waiting.pop()]
        for target in block.end.targets:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    first = split.function.blocks[start]
    rest = (b for n, b in split.function.blocks.items() if n in seen and n != start)
    return [first, *rest]
