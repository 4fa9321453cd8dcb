"""What numba says is wrong, cut to what matters: one sentence, with types in short form.

A compile error's text flows in, often forty lines of candidates that were tried; the gist flows
out, and the names to look for in the line of source, since numba tells no column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOILERPLATE = re.compile(
    r"Failed in \w+ mode pipeline|^raised from |^- Resolution failure|^For Numba to be able"
    r"|^Return of: IR name|^Example code|^\[\w+\] During|^\*\*\* "
)
_CONTEXT = re.compile(
    r'\s*(File "|During: |There are \d+ candidate|This error m|Enable logging|For Numba to be able)'
)
"""Where numba goes on from what is wrong to where it was, and to what else it tried."""
_COMPLETE = re.compile(r"has no attribute '\w+'\.$")
"""What NumPy follows by a page about its history."""
_ARGUMENT = re.compile(r"^- (argument \d+: .*)", re.MULTILINE)
_REJECTED = re.compile(r"raised a specific error:\n((?:.*\n?){1,4})")
_CALL = re.compile(
    r"No implementation of function (?:Function|type)\((?P<of>.*?)\) found for signature:"
    r"\s*>>> (?P<called>[^\s(]*|<unknown function>)\((?P<arguments>.*)\)",
    re.DOTALL,
)
_BOUND = re.compile(r"Invalid use of BoundFunction\((\S+) for (.*?)\) with parameters \((.*)\)")
_REASON = re.compile(r"^(?:\w*Error: )+")
_USELESS = re.compile(r"^(>>>|There are|Invalid use of)|must be Sets")
"""Reasons that say nothing; sets are what numba thinks of last where & or | does not fit."""
_MOST_REASONS = 1

FORMS = {
    "setitem": "a[i] = b",
    "getitem": "a[i]",
    "static_getitem": "a[i]",
    "delitem": "del a[i]",
    **{
        name: f"a {sign} b"
        for name, sign in {
            "add": "+",
            "sub": "-",
            "mul": "*",
            "truediv": "/",
            "floordiv": "//",
            "mod": "%",
            "pow": "**",
            "lshift": "<<",
            "rshift": ">>",
            "and_": "&",
            "or_": "|",
            "xor": "^",
            "eq": "==",
            "ne": "!=",
            "lt": "<",
            "le": "<=",
            "gt": ">",
            "ge": ">=",
            "iadd": "+=",
            "isub": "-=",
            "imul": "*=",
            "itruediv": "/=",
            "ifloordiv": "//=",
            "imod": "%=",
            "ilshift": "<<=",
            "irshift": ">>=",
            "iand": "&=",
            "ior": "|=",
            "ixor": "^=",
            "is_": "is",
            "contains": "in",
        }.items()
    },
    "neg": "-a",
    "invert": "~a",
    "not_": "not a",
    "truth": "bool(a)",
}
"""Python's names of operators → how they are written."""

_TYPES: tuple[tuple[str, str], ...] = (
    (r"Literal\[str\]\(([^()]*)\)", r"'\1'"),
    (r"Literal\[\w+\]\(([^()]*)\)", r"\1"),
    (r"<iv=[^<>]*>", ""),
    (r"\bArray\((\w+), (\d), '(\w)'[^()]*\)", r"array(\1, \2d, \3)"),
    (r"readonly bytes\(uint8, 1d, C\)", "bytes"),
    (r"readonly array\(", "read-only array("),
    (r"array\((\w+), (\d)d, C\)", r"\2-D \1 array"),
    (r"array\((\w+), (\d)d, F\)", r"\2-D \1 array (Fortran order)"),
    (r"array\((\w+), (\d)d, A\)", r"\2-D \1 array (any layout)"),
    (r"unaligned array\(", "array("),
    (r"UniTuple\(([^()]*) x (\d+)\)", r"tuple of \2 × \1"),
    (r"Tuple\(\)", "an empty tuple"),
    (r"\bTuple\(", "tuple("),
    (r"(?:reflected )?list\(([^()]*)\)", r"list of \1"),
    (r"\bclass\((\w+)\)", r"np.\1"),
    (r"(?<!\.)\bdtype\((\w+)\)", r"np.dtype(\1)"),
    (r"unicode_type", "str"),
    (r"\bnone\b", "None"),
    (r"Optional\((.*?)\)", r"\1 or None"),
    (r"slice<a:b(:c)?>", "a slice"),
    (r"Module\(<module '([\w.]+)'[^()]*(?:\([^()]*\))?[^()]*\)", r"module \1"),
    (r"(?:type\()?CPUDispatcher\(<function (\w+)>\)\)?", r"function \1"),
    (r"Function\(<ufunc '(\w+)'>\)", r"np.\1"),
    (r"Function\(<(?:built-in )?(?:function|class) '?([\w.]+)'?>\)", r"\1"),
    (r"finfo\([^()]*\)", "np.finfo"),
    (r"iinfo\([^()]*\)", "np.iinfo"),
)
_REWORDED: tuple[tuple[str, str], ...] = (
    (r" for '\$[\w.]+'", ""),
    (r"for '(\w+)(?:\.\d+)+'", r"for '\1'"),
    (r",? defined at .*$", ""),
    (r"\.+ Raised from .*$", ""),
    (r", operation: .*", ""),
    (r"variable '\$[\w.]+'", "an expression"),
    (r"variable '(\w+)(?:\.\d+)+'", r"variable '\1'"),
    (r" is not supported as globals are considered.*", " is not supported"),
    (
        r"Cannot bind '.*' to signature '(.*)' due to \"\w+: (.*?)\.?\"\.?",
        r"\2; the signature is \1",
    ),
    (r"'_\w+', ", ""),
    (r"\. Known options are dict_keys\(\[(.*)\]\)", r"; known are \1"),
    (r"^(?:NameError|NumbaTypeError|NumbaValueError): ", ""),
    (r"' or unsupported use of the function\.?", "', or of arguments that it does not take"),
)
_OPERATORS = {name: re.sub(r"^a |^del a| b$|^a$", "", form).strip() for name, form in FORMS.items()}


@dataclass(frozen=True)
class Gist:
    """What an error says."""

    text: str
    needles: tuple[str, ...]
    """Regular expressions for what it is about in the line of source, the best first."""


def gist(text: str) -> Gist:
    """Of a compile error, without its type's name."""
    lines = _head(text)
    whole = "\n".join(lines)
    call = _CALL.search(whole)
    bound = _BOUND.search(whole)
    if call:
        head = _call(call)
    elif bound:
        name, owner, arguments = bound.groups()
        head = short(f"no version of {name}({arguments}) for {owner}")
    else:
        head = short(" ".join(lines))
    said = dict.fromkeys((head, *(_ARGUMENT.findall(text)), *_reasons(text, bool(call or bound))))
    return Gist("; ".join(short(one).rstrip(".") for one in said if one), _needles(whole, text))


def short(text: str) -> str:
    """With numba's names of types, and of its own variables, as a person writes them."""
    for pattern, replacement in (*_TYPES, *_REWORDED):
        text = re.sub(pattern, replacement, text)
    return text.strip()


def _head(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        if lines and (_CONTEXT.match(line) or _COMPLETE.search(lines[-1])):
            break
        if line.strip() and not _BOILERPLATE.search(line.strip()):
            lines.append(line.strip())
    return list(dict.fromkeys(lines))


def _call(call: re.Match[str]) -> str:
    name = re.sub(r".*?([\w.]+)'?>?$", r"\1", call["of"])
    arguments = _split(short(call["arguments"]))
    form = FORMS.get(name)
    name = re.sub(r"^array_", "array.", name)
    if form is None:
        return f"no version of {name}({', '.join(arguments)})"
    letters = "aib" if "[i] =" in form else "ai" if "[i]" in form else "ab"
    named = (f"{letter}: {argument}" for letter, argument in zip(letters, arguments, strict=False))
    return f"no `{form}` for {', '.join(named)}"


def _split(arguments: str) -> list[str]:
    """At the commas outside brackets."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _reasons(text: str, wanted: bool) -> list[str]:
    """What the candidates that looked right said."""
    if not wanted:
        return []
    found = []
    for block in _REJECTED.findall(text):
        for line in block.splitlines():
            reason = _REASON.sub("", line.strip())
            if reason and not _BOILERPLATE.search(reason) and "No implementation of" not in reason:
                found.append(reason)
                break
    return [r for r in dict.fromkeys(found) if not _USELESS.search(r)][:_MOST_REASONS]


def _needles(head: str, text: str) -> tuple[str, ...]:
    keywords = re.findall(r"unexpected keyword argument '(\w+)'", text)
    needles = [rf"\b{keyword}\s*=(?!=)" for keyword in keywords]
    for pattern in (
        r"Unknown attribute '(\w+)'",
        r"has no attribute '(\w+)'",
        r"unsupported NumPy function 'numpy\.(?:\w+\.)*(\w+)'",
        r"Untyped global name '(\w+)'",
        r"variable '(\w+?)(?:\.\d+)*'",
        r"BoundFunction\(\w+\.(\w+) ",
    ):
        needles += [rf"\b{name}\b" for name in re.findall(pattern, head)]
    call = _CALL.search(head)
    if call:
        name = re.sub(r".*?(\w+)'?>?$", r"\1", call["of"])
        sign = _OPERATORS.get(name, "")
        if name not in FORMS:
            needles.append(rf"\b{name}\b")
        elif sign and not sign.startswith(("[", "not", "bool")):
            needles.append(rf"(?<![<>=!+*/&|^-]){re.escape(sign)}(?![<>=*/&|])")
    return tuple(needles)
