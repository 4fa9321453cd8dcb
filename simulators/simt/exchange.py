"""Requests for compiled kernels and their answers, as bytes: between child, server and compiler.

None of the three trusts the others: what does not have exactly this form raises ExchangeError. A
request is JSON. An answer is the length of its JSON (u32, little-endian), the JSON, and the object
code.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from kernels.diagnostics import Diagnostic

from .records import (
    Bundle,
    Global,
    KernelInfo,
    ModuleInfo,
    Param,
    Rejected,
    Source,
    Unsupported,
    Variant,
)

REQUEST, ANSWER = "request.json", "answer.bin"
"""Files of the folder that the compiler's program runs in."""
_LENGTH = struct.Struct("<I")
_MOST_TEXT = 1 << 20
_MOST_THREADS = 1024
DIALECTS, WARPS = ("cuda", "hip"), (32, 64)
HOOKS = ("none", "checked", "counted")
ENGINES = ("auto", "loops", "fibers")


class ExchangeError(Exception):
    """Bytes that are no request or no answer."""


@dataclass(frozen=True)
class Request:
    """What is wanted of a module: to know what it defines, or one of its kernels."""

    source: Source
    variant: Variant | None = None
    engine: str = "auto"


@dataclass(frozen=True)
class Described:
    """What a module defines; the answer to a request without a variant."""

    info: ModuleInfo
    diagnostics: tuple[Diagnostic, ...] = ()


Answer = Described | Bundle | Rejected | Unsupported


def pack_request(request: Request) -> bytes:
    """As JSON."""
    return json.dumps(asdict(request), separators=(",", ":")).encode()


def unpack_request(raw: bytes) -> Request:
    """Inverse of `pack_request`; raises ExchangeError."""
    try:
        found = json.loads(raw)
        _only(found, Request)
        variant = found.get("variant")
        request = Request(
            _source(found["source"]),
            None if variant is None else _variant(variant),
            _one_of(found.get("engine", "auto"), ENGINES),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ExchangeError(f"malformed request: {error}") from error
    return request


def pack_answer(answer: Answer) -> bytes:
    """JSON and object code."""
    code, told = b"", dict[str, Any]()
    match answer:
        case Described(info, diagnostics):
            told = {"info": _plain_info(info), "diagnostics": _plain(diagnostics)}
        case Bundle(meta, code):
            told = {"meta": dict(meta)}
        case Rejected(diagnostics):
            told = {"rejected": _plain(diagnostics)}
        case Unsupported(reason, line):
            told = {"unsupported": reason, "line": line}
    text = json.dumps(told, separators=(",", ":")).encode()
    return _LENGTH.pack(len(text)) + text + code


def unpack_answer(raw: bytes) -> Answer:
    """Inverse of `pack_answer`; raises ExchangeError."""
    try:
        (length,) = _LENGTH.unpack_from(raw)
        told = json.loads(raw[_LENGTH.size : _LENGTH.size + length])
        if "rejected" in told:
            return Rejected(_diagnostics(told["rejected"]))
        if "unsupported" in told:
            return Unsupported(_text(told["unsupported"]), _whole(told["line"]))
        if "meta" in told:
            return Bundle(dict(told["meta"]), raw[_LENGTH.size + length :])
        return Described(_info(told["info"]), _diagnostics(told["diagnostics"]))
    except (ValueError, TypeError, KeyError, RecursionError, struct.error) as error:
        raise ExchangeError(f"malformed answer: {error}") from error


def _plain(diagnostics: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    return [asdict(diagnostic) for diagnostic in diagnostics]


def _plain_info(info: ModuleInfo) -> dict[str, Any]:
    told = asdict(info)
    for one in told["globals"]:
        one["init"] = base64.b64encode(one["init"]).decode()
    return told


def _only(found: Mapping[str, Any], record: type) -> None:
    """Whether the keys are those of a record."""
    if not isinstance(found, dict):
        raise TypeError(f"no {record.__name__}")
    unknown = set(found) - {field.name for field in fields(record)}
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(map(str, unknown)))}")


def _source(found: Mapping[str, Any]) -> Source:
    _only(found, Source)
    return Source(
        code=_text(found["code"]),
        file=_text(found["file"]),
        dialect=_one_of(found.get("dialect", "cuda"), DIALECTS),
        warp=_one_of(found.get("warp", 32), WARPS),
        options=_texts(found.get("options", ())),
        names=_texts(found.get("names", ())),
        headers={_text(n): _text(t) for n, t in dict(found.get("headers", {})).items()},
    )


def _variant(found: Mapping[str, Any]) -> Variant:
    _only(found, Variant)
    x, y, z = map(_whole, found["block"])
    if min(x, y, z) < 1 or x * y * z > _MOST_THREADS:
        raise ValueError(f"a block of {x} x {y} x {z} threads")
    descending = found.get("descending", False)
    if not isinstance(descending, bool):
        raise ValueError("descending is no truth value")
    hooks = _one_of(found.get("hooks", "none"), HOOKS)
    return Variant(_text(found["kernel"]), (x, y, z), descending, hooks)


def _info(found: Mapping[str, Any]) -> ModuleInfo:
    _only(found, ModuleInfo)
    return ModuleInfo(
        tuple(_kernel(one) for one in found["kernels"]),
        tuple(
            Global(**{**_checked(one, Global), "init": base64.b64decode(one["init"])})
            for one in found["globals"]
        ),
    )


def _kernel(found: Mapping[str, Any]) -> KernelInfo:
    _only(found, KernelInfo)
    params = tuple(Param(**_checked(one, Param)) for one in found["params"])
    return KernelInfo(**{**_checked(found, KernelInfo), "params": params})


def _diagnostics(found: list[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(**_checked(one, Diagnostic)) for one in found)


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "str | None": (str, type(None)),
    "int | None": (int, type(None)),
}


def _checked(found: Mapping[str, Any], record: type) -> dict[str, Any]:
    """The same, once the plain ones of its values have the types of the record's fields."""
    _only(found, record)
    for field in fields(record):
        wanted = _TYPES.get(str(field.type))
        if field.name in found and wanted and not isinstance(found[field.name], wanted):
            raise ValueError(f"{field.name} is no {field.type}")
    return dict(found)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise ValueError("a text is missing or too long")
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise ValueError("no list of texts")
    return tuple(map(_text, values))


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _one_of(value: Any, possible: tuple[Any, ...]) -> Any:
    if value not in possible:
        raise ValueError(f"{value!r} is none of {possible}")
    return value
