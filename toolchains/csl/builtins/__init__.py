"""What every builtin does, and the checks that all share: the table, and the way into it."""

from __future__ import annotations

from toolchains.csl import nodes
from toolchains.csl.builtin_names import BUILTINS as SIGNATURES
from toolchains.csl.evaluation import Builtin, Context, Evaluator, Item, Site
from toolchains.csl.foreign import suggestion
from toolchains.csl.source import error
from toolchains.csl.types import Type

from .arrays import ARRAYS
from .colors import IDS
from .config import CONFIG
from .dsds import DSDS
from .dsrs import DSRS
from .exports import EXPORTS
from .fifos import FIFOS
from .language import LANGUAGE
from .layouts import LAYOUTS
from .mapping import MAPPING
from .operations import OPERATIONS
from .queues import QUEUES
from .strings import STRINGS
from .structs import STRUCTS
from .system import SYSTEM
from .tasks import TASKS

BUILTINS: dict[str, Builtin] = {
    **LANGUAGE,
    **ARRAYS,
    **STRUCTS,
    **STRINGS,
    **IDS,
    **TASKS,
    **QUEUES,
    **LAYOUTS,
    **EXPORTS,
    **CONFIG,
    **SYSTEM,
    **DSDS,
    **DSRS,
    **FIFOS,
    **OPERATIONS,
    **MAPPING,
}
"""By name, with its `@`."""

_INSTEAD = {
    "@concat_structs": "nested structs, or one literal with all fields",
    "@get_ut_id": "the microthread of wse2 is that of the queue; no number is given",
    "@bind_rotating_tasks": "one data task that counts, or --sdk-dialect=2.10 and wse3",
    "@set_empty_queue_handler": "an operation's .activate says when it is done",
    "@queue_flush": "an operation's .activate says when it is done",
    "@set_control_task_table": "on wse2 all tasks share one table",
}
"""What to do without a builtin that this dialect or architecture lacks."""


def evaluate(
    ev: Evaluator, node: nodes.BuiltinCall, at: Site, expected: Type | None = None
) -> Item:
    """The value of a call of a builtin, with all that may be wrong with it."""
    entry = BUILTINS.get(node.name)
    if entry is None:
        raise _unknown(node)
    if at.context not in entry.contexts:
        raise _misplaced(node, entry, at.context)
    count = len(node.arguments)
    least, most = entry.arguments
    if count < least or (count > most >= 0):
        raise _miscounted(node, entry)
    options = ev.options
    other = options.dialect not in entry.dialects and not node.span.source.library
    if other or options.arch not in entry.archs:
        raise _unavailable(ev, node, entry)
    return entry.handler(ev, node, at, expected)


def _unknown(node: nodes.BuiltinCall) -> Exception:
    hint = suggestion(node.name, (name for name in BUILTINS if name != "@wafer"))
    return error(node.name_span, "unknown-builtin", f"there is no builtin `{node.name}`", hint)


_WHERE = {
    Context.LAYOUT: "the layout block",
    Context.COMPTIME_BLOCK: "a comptime block of a module",
    Context.COMPTIME: "an initial value",
    Context.RUNTIME: "the code of a function or task",
}


def _misplaced(node: nodes.BuiltinCall, entry: Builtin, context: Context) -> Exception:
    allowed = " or ".join(_WHERE[one] for one in Context if one in entry.contexts)
    message = f"{node.name} can't be used in {_WHERE[context]}"
    hint = f"it belongs in {allowed}"
    if node.name in _SIBLINGS:
        hint += f"; here it is {SIGNATURES[_SIBLINGS[node.name]].signature}"
    return error(node.name_span, "builtin-context", message, hint)


_SIBLINGS = {
    "@set_color_config": "@set_local_color_config",
    "@set_local_color_config": "@set_color_config",
}
"""Two that do the same in different places, with different arguments."""


def _miscounted(node: nodes.BuiltinCall, entry: Builtin) -> Exception:
    least, most = entry.arguments
    count = len(node.arguments)
    wanted = (
        str(least) if least == most else f"{least} to {most}" if most >= 0 else f"{least} or more"
    )
    plural = "" if wanted == "1" else "s"
    message = f"{node.name} takes {wanted} argument{plural}, not {count}"
    signature = SIGNATURES.get(node.name)
    hint = signature.signature if signature else ""
    return error(node.span, "argument-count", message, hint)


def _unavailable(ev: Evaluator, node: nodes.BuiltinCall, entry: Builtin) -> Exception:
    if ev.options.arch not in entry.archs:
        message = f"{node.name} exists on {' and '.join(entry.archs)}, not on {ev.options.arch}"
    else:
        versions = " and ".join(entry.dialects)
        message = f"{node.name} is of SDK {versions}, not of {ev.options.dialect}"
    return error(node.name_span, "unavailable", message, _INSTEAD.get(node.name, ""))
