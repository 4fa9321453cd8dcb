"""Fields of any size and character, computed from their name.

`synthetic:CHARACTER:DIMS[:f64][:fill][:seed=N]` → FieldInfo, or the values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernels.fields.dims import dims_text, parse_dims, problem_of_shape
from kernels.fields.errors import UnknownFieldError
from kernels.fields.patterns import NOISE, OCTAVES, PARTICLES, STEPS, generate
from kernels.records import Array, FieldInfo

PREFIX = "synthetic:"
MOST_BYTES = 2**30
"""A field is computed into memory."""
MOST_ROWS = 2**22
"""Work per row would otherwise outweigh the work per element by far."""
MOST_SEED = 2**32 - 1
FILL = 9.969209968386869e36
"""NetCDF's default fill value, which is a float32."""

READY = (
    "synthetic:smooth:64x96x128:seed=1",
    "synthetic:turbulent:96x96x96:seed=1",
    "synthetic:particle:1000000:seed=1",
    "synthetic:steps:800x1000:seed=1",
    "synthetic:noise:500000:seed=1",
    "synthetic:smooth:8x24x40x40:f64:fill:seed=1",
)
"""The ones that are listed: one of each character, one in 4-D with everything."""


@dataclass(frozen=True)
class _Character:
    what: int
    """What `patterns.generate` writes."""
    meaning: str
    falloff: float = 0.0
    """Amplitude of an octave relative to the one of twice its wavelength."""
    octaves: int = 0
    """At most; fewer where the grid is small."""
    offset: float = 0.0
    gain: float = 1.0


_CHARACTERS = {
    "smooth": _Character(OCTAVES, "wide waves", 0.3, 3, 280.0, 12.0),
    # The spectrum falls with the power −5/3, if the amplitude falls by 2^(−1/3) per octave.
    "turbulent": _Character(OCTAVES, "Kolmogorov spectrum", 0.7937005259840998, 30),
    "particle": _Character(PARTICLES, "particle positions, sorted by cell only"),
    "steps": _Character(STEPS, "plateaus with sharp edges", 0.4, 4),
    "noise": _Character(NOISE, "white noise, nearly normal"),
}
CHARACTERS = tuple(_CHARACTERS)

GRAMMAR = (
    "synthetic:CHARACTER:DIMS[:f64][:fill][:seed=N] with CHARACTER one of "
    f"{', '.join(CHARACTERS)}; DIMS such as 1000000 or 64x128x128, 1 to 4 axes, at most "
    f"{MOST_BYTES >> 20} MiB; float32 unless f64; fill: regions of a fill value; "
    f"N from 0 to {MOST_SEED}, 1 if left out"
)


@dataclass(frozen=True)
class Recipe:
    """One synthetic field, as its name says."""

    character: str
    shape: tuple[int, ...]
    double: bool = False
    fill: bool = False
    seed: int = 1

    @property
    def name(self) -> str:
        """The one spelling under which results are recorded."""
        options = f"{':f64' if self.double else ''}{':fill' if self.fill else ''}"
        return f"{PREFIX}{self.character}:{dims_text(self.shape)}{options}:seed={self.seed}"

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Data type of the values."""
        return np.dtype(np.float64 if self.double else np.float32)


def parse(name: str) -> Recipe:
    """What a name asks for. Raises UnknownFieldError, which quotes the grammar."""
    parts = name.removeprefix(PREFIX).split(":")
    if not name.startswith(PREFIX) or len(parts) < 2:
        raise _refusal(name, "a character and dims are needed")
    character, dims, *options = parts
    if character not in _CHARACTERS:
        raise _refusal(name, f"no character {character[:40]!r}")
    try:
        shape = parse_dims(dims)
    except ValueError as error:
        raise _refusal(name, str(error)) from error
    chosen = _options(name, options)
    recipe = Recipe(
        character, shape, "f64" in chosen, "fill" in chosen, int(chosen.get("seed", "1"))
    )
    problem = _problem_of_size(recipe) or problem_of_shape(shape)
    if problem is not None:
        raise _refusal(name, problem)
    return recipe


def info(recipe: Recipe) -> FieldInfo:
    """What is known without computing it; so the sum is empty."""
    character = f"{len(recipe.shape)}-D, {_CHARACTERS[recipe.character].meaning}"
    return FieldInfo(
        name=recipe.name,
        shape=recipe.shape,
        dtype=recipe.dtype.name,
        source="computed from its name: integer hashing, the same bits on every machine",
        licence="CC0-1.0",
        sha256="",
        character=f"{character}, regions of fill" if recipe.fill else character,
        fill_value=FILL if recipe.fill else None,
    )


def compute(recipe: Recipe) -> Array:
    """The values."""
    character = _CHARACTERS[recipe.character]
    out: Array = np.empty(recipe.shape, recipe.dtype)
    shape = _lifted(recipe.shape)
    waves = _waves(max(shape) / 2, character.octaves, character.falloff, character.gain)
    mask = _waves(max(shape[-2:]) / 4, 4 if recipe.fill else 0, 0.6, 1.0)
    offset = character.offset
    generate(out.reshape(shape), character.what, waves, offset, recipe.seed, mask, FILL)
    return out


def _lifted(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same in 4-D, with the axes of one element in front."""
    longer = tuple(n for n in shape if n > 1)
    return (1,) * (4 - len(longer)) + longer


def _waves(longest: float, most: int, falloff: float, gain: float) -> Array:
    """Wavelengths, in elements, from a power of two above `longest` down to two; amplitudes."""
    widest = max(2, 1 << math.ceil(math.log2(max(longest, 1))))
    count = min(most, widest.bit_length() - 1)
    waves = np.empty((count, 2), np.float64)
    amplitude = gain
    for k in range(count):
        waves[k] = widest >> k, amplitude
        amplitude *= falloff
    return waves


def _options(name: str, options: list[str]) -> dict[str, str]:
    """`f64`, `fill` and `seed=N`, in any order, each at most once."""
    chosen: dict[str, str] = {}
    for option in options:
        key, _, value = option.partition("=")
        is_flag = option in ("f64", "fill")
        is_seed = key == "seed" and value.isascii() and value.isdecimal() and len(value) <= 10
        if not (is_flag or (is_seed and int(value) <= MOST_SEED)):
            raise _refusal(name, f"no option {option[:40]!r}")
        if key in chosen:
            raise _refusal(name, f"option {key} is there twice")
        chosen[key] = value
    return chosen


def _problem_of_size(recipe: Recipe) -> str | None:
    count = math.prod(recipe.shape)
    if count * recipe.dtype.itemsize > MOST_BYTES:
        asked = count * recipe.dtype.itemsize / 2**20
        return f"{asked:,.0f} MiB is more than is computed, {MOST_BYTES >> 20} MiB"
    if count // _lifted(recipe.shape)[-1] > MOST_ROWS:
        return f"{dims_text(recipe.shape)} has too many short rows: put the longest axis last"
    return None


def _refusal(name: str, why: str) -> UnknownFieldError:
    shown = name if len(name) <= 80 else f"{name[:77]}..."
    return UnknownFieldError(f"field {shown!r}: {why}; write {GRAMMAR}")
