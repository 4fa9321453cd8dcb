"""Self time of a submission's own functions while one request runs.

The functions of a submission's modules are replaced, in those modules' globals, by wrappers that
keep a stack, and so are those of `szstream`, which a kernel may call. A numba function called from
machine code is not seen: its time is its caller's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

from .wire import PhaseTime

MAX_PHASES = 128
_HELP = "szstream"


class PhaseClock:
    """Wraps the functions of some modules; `stop` puts them back."""

    def __init__(self, modules: list[ModuleType], sources: Path) -> None:
        self._inside: list[int] = [0]
        self._calls: dict[int, int] = {}
        self._nanoseconds: dict[int, int] = {}
        self._functions: list[Callable[..., object]] = []
        self._replaced: list[tuple[ModuleType, str, object]] = []
        wrappers: dict[int, Callable[..., object]] = {}
        for module in (*modules, *_help()):
            for name, value in list(vars(module).items()):
                if not (_is_own(value, sources) or _helps(name, value)):
                    continue
                if id(value) not in wrappers:
                    wrappers[id(value)] = self._wrap(value)
                self._replaced.append((module, name, value))
                setattr(module, name, wrappers[id(value)])

    def _wrap(self, function: Callable[..., object]) -> Callable[..., object]:
        key = len(self._functions)
        self._functions.append(function)
        self._calls[key] = self._nanoseconds[key] = 0
        inside = self._inside

        def timed(*args: object, **kwargs: object) -> object:
            inside.append(0)
            start = time.perf_counter_ns()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.perf_counter_ns() - start
                self._calls[key] += 1
                self._nanoseconds[key] += spent - inside.pop()
                inside[-1] += spent

        return timed

    def stop(self) -> list[PhaseTime]:
        """Restore the functions and return the self times, longest first."""
        for module, name, value in self._replaced:
            setattr(module, name, value)
        phases = [
            _phase(f, self._calls[i], self._nanoseconds[i])
            for i, f in enumerate(self._functions)
            if self._calls[i]
        ]
        return sorted(phases, key=lambda p: -p.nanoseconds)[:MAX_PHASES]


def _is_own(value: object, sources: Path) -> bool:
    function: Any = value.py_func if isinstance(value, Dispatcher) else value
    return isinstance(function, FunctionType) and function.__code__.co_filename.startswith(
        str(sources)
    )


def _help() -> list[ModuleType]:
    """szstream, if the kernel imported it."""
    return [module for name, module in list(sys.modules.items()) if name == _HELP]


def _helps(name: str, value: object) -> bool:
    """Whether it is one of szstream's functions for kernels."""
    public = isinstance(value, FunctionType) and not name.startswith("_")
    return public and getattr(value, "__module__", "") == _HELP


def _phase(function: Callable[..., object], calls: int, nanoseconds: int) -> PhaseTime:
    compiled = isinstance(function, Dispatcher)
    python: Any = function.py_func if isinstance(function, Dispatcher) else function
    code = python.__code__
    file = Path(code.co_filename).name
    return PhaseTime(python.__name__, file, code.co_firstlineno, calls, nanoseconds, compiled)
