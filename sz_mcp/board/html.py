"""HTML and SVG as escaped text: the only place where a tag is written.

`element` escapes every child that is no `Markup` and every attribute, so that a name, a message or
a source that an agent chose can't become markup. No attribute carries style or script: the pages'
Content-Security-Policy would not let them work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import urlencode

VOID = frozenset({"meta", "link", "input", "br", "hr", "col"})
_TAG = re.compile(r"[a-zA-Z][a-zA-Z0-9]*")
_ATTRIBUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")
_FORBIDDEN = re.compile(r"(?i)on.*|style|srcdoc")
_SAFE_URL = re.compile(r"(?!//)[\w./-]*([?#][^\\]*)?", re.ASCII)
"""No scheme and no host: a colon comes after a question mark, if at all."""
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that are not seen, or that reorder what is: shown by their number instead."""
_PLAIN = re.compile(r"[\w .,:;/()+*#%=?!-]*", re.ASCII)
"""Nearly all text of a large page, which needs no escape."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Value: TypeAlias = "str | int | float | bool | None"


def visible(value: str) -> str:
    """Text whose invisible characters, and those that reorder it, are shown by their number."""
    return _ODD.sub(lambda found: f"\\u{ord(found.group()):04x}", value)


def text(value: str) -> Markup:
    """Text as HTML, made visible."""
    if _PLAIN.fullmatch(value):
        return Markup(value)
    shown = visible(value)
    for plain, escaped in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("'", "&#39;"),
    ):
        shown = shown.replace(plain, escaped)
    return Markup(shown)


def element(tag: str, /, *children: Child, **attributes: Value) -> Markup:
    """One element. An attribute's underscores become hyphens, a last one is dropped.

    None and False leave an attribute out, True gives it no value.
    Raises ValueError for what no page may have: inline styles and scripts, links elsewhere.
    """
    if _TAG.fullmatch(tag) is None:
        raise ValueError(f"no tag: {tag!r}")
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{join(*children)}</{tag}>")


def join(*children: Child) -> Markup:
    """Children one after another, escaped where they are no Markup."""
    return Markup("".join([_child(child) for child in children]))


def address(page: str, **asked: str) -> str:
    """A page of the board with parameters of any text."""
    kept = {key: value.encode("utf-8", "replace") for key, value in asked.items() if value}
    return f"{page}?{urlencode(kept)}" if kept else page


def _child(child: Child) -> str:
    if isinstance(child, Markup):
        return child
    if child is None:
        return ""
    if isinstance(child, str | int):
        return text(str(child))
    return "".join([_child(one) for one in child])


@lru_cache(maxsize=256)
def _named(name: str) -> str:
    """An attribute's name in HTML."""
    name = name.removesuffix("_").replace("_", "-")
    if _ATTRIBUTE.fullmatch(name) is None or _FORBIDDEN.fullmatch(name):
        raise ValueError(f"no page may have the attribute {name!r}")
    return name


def _attribute(name: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = _named(name)
    if name in ("href", "src", "action") and _SAFE_URL.fullmatch(str(value)) is None:
        raise ValueError(f"pages link to nothing but themselves, not {value!r}")
    if value is True:
        return f" {name}"
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{text(shown)}"'
