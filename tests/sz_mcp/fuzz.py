"""Calls made from the tools' own input schemas, most of them wrong in some way. Seeded.

A list of tools and a pool of names that exist flow in; calls flow out. What may be answered to any
of them is `documented`.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_types import Tool

Schema = Mapping[str, Any]

TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "x\udfffy",
    "\ufeff",
    "é" * 300,
    "😀",
    "\u202eevil",
    "ﬃ",
    "A" * 5000,
    "null",
    "NaN",
    "1e999",
    "-0",
    "true",
    "[]",
    "{}",
    '{"kernel.py": 1}',
    "[" * 3000,
    "../../etc/passwd",
    "/etc/passwd",
    "~root",
    "~nobody-here/x",
    "file:///etc/passwd",
    "'; DROP TABLE calls; --",
    "%s%n{0}{self}",
    "$(id)",
    "\r\nX-Header: 1",
    "suite",
    "k_" + "0" * 32,
    "k_" + "g" * 32,
    "r_" + "0" * 32,
)
NUMBERS = (
    0,
    -0.0,
    1,
    -1,
    2**31,
    -(2**63),
    2**64,
    10**30,
    10**400,
    0.5,
    1e-308,
    5e-324,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)
OTHERS: tuple[object, ...] = (None, True, False, [], {}, [[]], {"": None}, [None] * 100)
ODD_NAMES = (
    "",
    "Kernel_ID",
    "kernel_id ",
    "__class__",
    "self",
    "files[0]",
    "\0",
    "\ud800",
    "é" * 200,
)
_UNDOCUMENTED = re.compile(
    r"the server failed|see its log|Error executing|Traceback|File \"|Internal|unexpected|"
    r"object at 0x|_pydantic|pydantic\.dev",
    re.IGNORECASE,
)
_OURS = (
    r"{tool}: [^\n]*(required|unknown|must|choose|send|no kernel|no run|no field|is not|there is "
    r"no|can't|at most|explains one|NUL|folder|file|needs|path|only)",
    r"unknown tool ",
    r"r_[0-9a-f]+ was forgotten meanwhile",
    r"limit reached: ",
    r"target .* can't run here",
    r".*(Error: |only one statement|characters; \d+ are allowed|only reads|not a statement)",
)
"""What our own errors begin with."""


HUGE = "«huge»"
"""Stands for a number of more digits than Python converts."""


@dataclass(frozen=True)
class Made:
    """One call."""

    tool: str
    arguments: dict[str, Any]
    doubled: str = ""
    """An argument that is there twice."""

    @property
    def params(self) -> str:
        """JSON text, with NaN and the like, as careless clients send it."""
        inner = json.dumps(self.arguments).replace(json.dumps(HUGE), "1" * 5000)
        if self.doubled:
            inner = f"{{{json.dumps(self.doubled)}:0,{inner[1:]}"
        return f'{{"name":{json.dumps(self.tool)},"arguments":{inner}}}'


@dataclass
class Pool:
    """Names that exist, as far as they were returned."""

    valid: dict[str, list[Any]] = field(default_factory=dict)
    """Argument → values that are right."""

    def add(self, name: str, value: object) -> None:
        """Keep the last few."""
        known = self.valid.setdefault(name, [])
        known.append(value)
        del known[:-20]


class Fuzz:
    """Makes calls."""

    def __init__(
        self, tools: Sequence[Tool], pool: Pool, seed: int, weights: Mapping[str, float]
    ) -> None:
        """weights: tool → how often it is called, where not once."""
        self._schemas = {tool.name: tool.input_schema for tool in tools}
        self._weights = [weights.get(name, 1.0) for name in self._schemas]
        self._pool = pool
        self._chance = random.Random(seed)

    def call(self) -> Made:
        """A call: right but for none to three mistakes."""
        chance = self._chance
        (tool,) = chance.choices([*self._schemas], self._weights)
        schema = self._schemas[tool]
        arguments = self._right(schema)
        mistakes: tuple[Callable[[Schema, dict[str, Any]], None], ...] = (
            self._wrong_value,
            self._wrong_value,
            self._wrong_value,
            self._unknown_name,
            self._missing,
            self._everything,
        )
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            chance.choice(mistakes)(schema, arguments)
        doubled = chance.choice([*arguments]) if arguments and chance.random() < 0.03 else ""
        if chance.random() < 0.01:
            tool = chance.choice([*TEXTS, tool.upper(), f"{tool} "])
        return Made(tool, arguments, doubled)

    def _right(self, schema: Schema) -> dict[str, Any]:
        properties: Mapping[str, Schema] = schema["properties"]
        required = schema.get("required", ())
        return {
            name: self._valid(name, one)
            for name, one in properties.items()
            if name in required or self._chance.random() < 0.5
        }

    def _valid(self, name: str, schema: Schema) -> Any:
        """A value that its schema allows, of those that exist if some are known."""
        chance = self._chance
        if known := self._pool.valid.get(name):
            return chance.choice(known)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if kinds := schema.get("anyOf"):
            return self._valid(name, chance.choice(kinds))
        least, most = schema.get("minimum", 0), schema.get("maximum", 1000)
        text = "".join(chance.choices(string.ascii_letters, k=8))
        by_type: dict[str, Any] = {
            "integer": chance.choice((least, most, chance.randint(int(least), int(most)))),
            "number": chance.choice((least, most, chance.uniform(least, most), 1e-3)),
            "boolean": chance.random() < 0.5,
            "object": {"kernel.py": "x = 1\n"},
            "null": None,
        }
        return by_type.get(schema.get("type", ""), text)

    def _wrong_value(self, schema: Schema, arguments: dict[str, Any]) -> None:
        name = self._chance.choice([*schema["properties"]])
        arguments[name] = self._odd(schema["properties"][name])

    def _odd(self, schema: Schema) -> Any:
        """A boundary of the schema, something of another type, or something deep."""
        chance = self._chance
        bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
        near = [one + step for one in bounds for step in (-1, 1, 1e-9)]
        kind = chance.randrange(8)
        if kind < 2 and near:
            return chance.choice(near)
        if kind < 4:
            return chance.choice(TEXTS)
        if kind < 6:
            return chance.choice((*NUMBERS, HUGE))
        return chance.choice(OTHERS) if kind == 6 else self._deep()

    def _deep(self) -> Any:
        chance = self._chance
        value: Any = chance.choice((*TEXTS, *NUMBERS, *OTHERS))
        for _ in range(chance.choice((1, 3, 50, 150, 400))):
            value = [value] if chance.random() < 0.5 else {chance.choice(TEXTS[:10]): value}
        return value

    def _unknown_name(self, schema: Schema, arguments: dict[str, Any]) -> None:
        known = self._chance.choice([*schema["properties"]])
        name = self._chance.choice((*ODD_NAMES, known + "s", known[:-1], known.upper()))
        arguments[name] = self._odd({})

    def _missing(self, _schema: Schema, arguments: dict[str, Any]) -> None:
        if arguments:
            del arguments[self._chance.choice([*arguments])]

    def _everything(self, schema: Schema, arguments: dict[str, Any]) -> None:
        for name, one in schema["properties"].items():
            arguments[name] = self._odd(one)


def documented(tool: str, text: str) -> bool:
    """Whether an error's text is one of ours, made for whoever called."""
    if _UNDOCUMENTED.search(text):
        return False
    if re.match(rf"{re.escape(tool)}: \d+ problems with the arguments:\n", text):
        return all(documented(tool, f"{tool}: {one}") for one in text.split("\n- ")[1:])
    forms = (form.replace("{tool}", re.escape(tool)) for form in _OURS)
    return any(re.match(form, text, re.DOTALL) for form in forms)
