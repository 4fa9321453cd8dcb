"""Numbers as people read them, and the ticks of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "–"
"""Shown where there is no number."""
_MINUS = "\N{MINUS SIGN}"


def shown(value: float | None, digits: int = 3) -> str:
    """A number with that many significant digits, a whole one with all.

    Powers of ten stand where it is very large or small.
    """
    if value is None or math.isnan(value):
        return NONE
    if isinstance(value, int):
        return f"{value:,}".replace("-", _MINUS)
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-3:
        mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
        trimmed = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        body = f"{trimmed}e{int(power)}"
    else:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        body = f"{size:,.{places}f}"
    return (_MINUS if value < 0 else "") + body


def tick(value: float) -> str:
    """A round number, as at an axis: no digits that say nothing."""
    if value == 0:
        return "0"
    size = abs(value)
    sign = _MINUS if value < 0 else ""
    if size >= 1e5 or size < 1e-3:
        mantissa, _, power = f"{size:.2e}".partition("e")
        return f"{sign}{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    return f"{sign}{size:,.6g}" if size < 1000 else f"{sign}{size:,.0f}"


def percent(share: float | None) -> str:
    """A share of 1 in per cent; what is not quite none or all is not shown as such."""
    if share is None or math.isnan(share):
        return NONE
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 < share < 1:
        return ">99%"
    return f"{share * 100:.0f}%"


def spread(value: float | None, low: float | None, high: float | None, digits: int = 3) -> str:
    """A number and its interval, such as `1.92 (1.87–1.97)`."""
    if value is None or low is None or high is None:
        return shown(value, digits)
    return f"{shown(value, digits)} ({shown(low, digits)}–{shown(high, digits)})"


def seconds(duration: float | None) -> str:
    """A duration in the unit that suits it."""
    if duration is None or math.isnan(duration):
        return NONE
    if duration < 120:
        return f"{shown(duration)} s"
    if duration < 7200:
        return f"{duration / 60:.1f} min"
    return f"{duration / 3600:.1f} h"


def linear_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Round numbers within [low, high], `most` or fewer."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    factors = (1.0, 2.0, 5.0, 10.0, 20.0)
    step *= next(one for one in factors if (high - low) / (step * one) <= most)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return tuple((first + number) * step for number in range(count))


def log_ticks(low: float, high: float, most: int = 7) -> tuple[float, ...]:
    """Powers of ten within [low, high], with 2 and 5 times them where there is room."""
    if high < low * 5:
        return linear_ticks(low, high, 5)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10.0**power for power in powers for factor in factors]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(inside) <= most:
            return tuple(inside)
    every = math.ceil(len(powers) / most)
    return tuple(10.0**power for power in powers if power % every == 0)


def finite(values: Sequence[float | None]) -> list[float]:
    """Those that are numbers."""
    return [value for value in values if value is not None and math.isfinite(value)]
