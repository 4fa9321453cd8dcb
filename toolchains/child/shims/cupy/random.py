"""`cupy.random`: NumPy's generators, with CuPy's `dtype`. The numbers are not those of cuRAND."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._delegate import call
from ._engine import PROCESS
from ._errors import NotEmulatedError
from ._storage import Array, copied

_DISTRIBUTIONS = [
    "beta",
    "binomial",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rayleigh",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
    "rand",
    "randn",
    "randint",
    "random_integers",
    "random_sample",
    "tomaxint",
]
_SAMPLES = ("random", "ranf", "sample")
"""Other names of random_sample."""


class RandomState:
    """A generator with a state."""

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        """method: of cuRAND, without effect here."""
        self._state = np.random.RandomState(_number(seed))

    def seed(self, seed: Any = None) -> None:
        """Begin again."""
        self._state = np.random.RandomState(_number(seed))

    def shuffle(self, a: Array) -> None:
        """Permute along the first axis, in place."""
        call(self._state.shuffle, a)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        name = "random_sample" if name in _SAMPLES else name
        if name not in _DISTRIBUTIONS:
            raise AttributeError(f"'RandomState' object has no attribute {name!r}")
        function = getattr(self._state, name)

        def drawn(*args: Any, **kwargs: Any) -> Any:
            dtype = None if name == "randint" else kwargs.pop("dtype", None)
            made = call(function, *args, **kwargs)
            return made if dtype is None else copied(made._host.astype(dtype))

        return drawn


class Generator:
    """As `default_rng` returns it."""

    def __init__(self, seed: Any = None) -> None:
        self._generator = np.random.default_rng(_number(seed))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._generator, name)
        return lambda *args, **kwargs: call(function, *args, **kwargs)


def default_rng(seed: Any = None) -> Generator:
    """A generator."""
    return Generator(seed)


def seed(seed: Any = None) -> None:
    """Begin again."""
    PROCESS.random = RandomState(seed)


reset_states = seed


def get_random_state() -> RandomState:
    """The generator that the functions here use."""
    if PROCESS.random is None:
        PROCESS.random = RandomState()
    state: RandomState = PROCESS.random
    return state


def set_random_state(rs: RandomState) -> None:
    """Let the functions here use another."""
    PROCESS.random = rs


def shuffle(a: Array) -> None:
    """Permute along the first axis, in place."""
    get_random_state().shuffle(a)


def bytes(length: int) -> Any:
    """Random bytes, on the host."""
    return get_random_state()._state.bytes(length)


def _number(seed: Any) -> Any:
    if isinstance(seed, Array):
        return int(seed._host.ravel()[0])
    return seed


def __getattr__(name: str) -> Callable[..., Any]:
    if name in {"BitGenerator", "MRG32k3a", "Philox4x3210", "XORWOW"}:
        raise NotEmulatedError(f"cupy.random.{name}")
    if name in _SAMPLES or name in _DISTRIBUTIONS:
        drawn: Callable[..., Any] = getattr(get_random_state(), name)
        return drawn
    raise AttributeError(f"module 'cupy.random' has no attribute {name!r}")
