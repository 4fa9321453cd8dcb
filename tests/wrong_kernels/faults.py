"""What can be wrong in a kernel that is right otherwise, and the rule that should say so.

Each fault is a change of one of the kernels of this folder, which all keep their bound: the text
that is right → what is written instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

KERNELS = ("plain", "blocks", "tiles", "feedback", "ranges", "fused")


@dataclass(frozen=True)
class Fault:
    """One mistake."""

    kernel: str
    """That it is made in."""
    rules: tuple[str, ...]
    """One of them must speak of it."""
    changes: dict[str, str]

    @property
    def source(self) -> str:
        """The kernel with the mistake."""
        text = right(self.kernel)
        for is_right, is_wrong in self.changes.items():
            if text.count(is_right) != 1:
                raise ValueError(f"{self.kernel} has {is_right!r} {text.count(is_right)} times")
            text = text.replace(is_right, is_wrong)
        return text


def right(kernel: str) -> str:
    """The text of a kernel that keeps its bound."""
    return (Path(__file__).parent / f"{kernel}.py").read_text(encoding="utf-8")


UNCHECKED = {"return ~(error < abs_bound)  # NaN too": "return ~(np.abs(x) < 2e6 * abs_bound)"}
"""Of `plain`: everything that is not far too large passes."""
_PLAIN_X = "    x = data.reshape(-1)\n"
_PLAIN_APART = "    q[apart] = 0\n"
_PLAIN_Q = "    q = quantised(x, step)\n"
_PLAIN_FITS = "fits = np.abs(scaled) < 2.0**30  # neither NaN nor Inf"
_PLAIN_CAST = "np.rint(np.where(fits, scaled, 0)).astype(np.int32)"
_LATE_CAST = {_PLAIN_FITS: "fits = np.isfinite(scaled)", _PLAIN_CAST: _PLAIN_CAST[:-17]}
"""Of `plain`: what is checked is not yet an integer."""
_BLOCKS_CHECK = "(np.abs(x.astype(np.float64) - y) < abs_bound).all(axis=1)"
_BLOCKS_DIFFERENCES = "differences = np.diff(block, prepend=block[0])"
_RANGES_CHECK = "(np.abs(block.astype(np.float64) - y) < abs_bound)"
_RANGES_LEVELS = "np.ceil((high - low) / (1.9 * abs_bound))"
_FEW_LEVELS = {_RANGES_LEVELS: f"min({_RANGES_LEVELS}, 65535.0)"}
_TILES_SUM = "        t = np.cumsum(t, axis=axis)\n"
_TILES_SUMS = f"    for axis in range(1, t.ndim, 2):\n{_TILES_SUM}"
_TILES_WHOLE = "    return whole[tuple("

ROUNDING = {
    "no check at all": Fault("plain", ("rounding",), UNCHECKED),
    "checked in float32": Fault(
        "plain",
        ("rounding",),
        {
            "np.abs(x.astype(np.float64) - y.astype(np.float64))": "np.abs(x - y)",
            "error < abs_bound": "error <= x.dtype.type(abs_bound)",
        },
    ),
    "checked with a step in double": Fault(
        "plain",
        ("rounding",),
        {"misses(x, restored(q, step), abs_bound)": "misses(x, q * (2 * abs_bound), abs_bound)"},
    ),
    "half a bin is taken for the bound": Fault(
        "blocks",
        ("rounding",),
        {"np.abs(x.astype(np.float64) - y) < abs_bound": "np.abs(x / step - q) <= 0.5"},
    ),
    "checked before the cast to the data type": Fault(
        "tiles", ("rounding",), {"y = (q * step).astype(data.dtype)": "y = q * step"}
    ),
    "step in float32, the decoder's in double": Fault(
        "plain",
        ("rounding",),
        {
            "step = stream[:8].view(np.float64)[0].astype(dtype)": "step = stream[:8].view("
            "np.float64)[0] * (1 + 1e-8)",
            "y = restored(q, step)": "y = restored(q, step).astype(dtype)",
        },
    ),
}
TOLERANCE = {
    "1.1 times the bound": Fault(
        "plain",
        ("tolerance",),
        {
            "min(2 * abs_bound": "min(2.2 * abs_bound",
            "error < abs_bound": "error < 1.1 * abs_bound",
        },
    ),
    "a step too large, unchecked": Fault(
        "plain", ("tolerance",), {"min(2 * abs_bound": "min(2.5 * abs_bound", **UNCHECKED}
    ),
    "2% in blocks": Fault(
        "blocks",
        ("tolerance",),
        {
            "min(2 * abs_bound": "min(2.04 * abs_bound",
            ") < abs_bound).all": ") < 1.02 * abs_bound).all",
        },
    ),
}
CONTRACTION = {
    "fused check": Fault("fused", ("rounding",), {"abs(x[i] - y)": "abs(fused(q, -step, x[i]))"}),
    "fastmath": Fault(
        "fused",
        ("rounding",),
        {"@njit\ndef encode": '@njit(fastmath={"contract"})\ndef encode'},
    ),
}
OVERFLOW = {
    "int32 of q": Fault(
        "plain",
        ("too-large",),
        {
            **_LATE_CAST,
            _PLAIN_APART: f"{_PLAIN_APART}    q = q.astype(np.int64).astype(np.int32)\n",
        },
    ),
    "q clipped": Fault(
        "plain",
        ("too-large",),
        {
            **_LATE_CAST,
            _PLAIN_APART: f"{_PLAIN_APART}    q = np.clip(q, -32768, 32767).astype(np.int32)\n",
        },
    ),
    "int16 of the base": Fault(
        "blocks",
        ("too-large", "wraps"),
        {"block[:1].astype(np.int32)": "block[:1].astype(np.int16).astype(np.int32)"},
    ),
    "width of differences": Fault("blocks", ("wraps",), {"largest < 1 << 7": "largest < 1 << 8"}),
    "int8 codes": Fault("feedback", ("wraps",), {"abs(scaled) < 127": "abs(scaled) < 200"}),
    "int32 of 3-D differences": Fault(
        "tiles",
        ("wraps", "too-large", "fill-value"),
        {"differences(q).tobytes()": "differences(q).astype(np.int16).astype(np.int64).tobytes()"},
    ),
    "middle of two large values": Fault(
        "ranges",
        ("range-overflow",),
        {
            "block.min() / 2 + block.max() / 2": "(block.min() + block.max()) / 2",
            "if high - middle < abs_bound and middle - low < abs_bound:": (
                "if high - low < abs_bound:"
            ),
        },
    ),
    "difference to the minimum": Fault(
        "ranges", ("range-overflow",), {f"{_RANGES_CHECK}.all()": "np.isfinite(block).all()"}
    ),
}
DRIFT = {
    "the encoder keeps originals": Fault(
        "feedback",
        ("adds-up",),
        {"                last = np.float64(y)\n": "                last = np.float64(x[i])\n"},
    ),
    "differences of originals": Fault(
        "plain",
        ("adds-up",),
        {
            _PLAIN_Q: "    q = quantised(np.diff(x, prepend=x[:1] * 0), step)\n"
            "    q = np.cumsum(q, dtype=np.int32)\n",
            **UNCHECKED,
        },
    ),
    "differences within blocks": Fault(
        "blocks",
        ("adds-up",),
        {
            _BLOCKS_DIFFERENCES: "scaled = x[i] / step\n"
            "        differences = np.rint(np.diff(scaled, prepend=scaled[0])).astype(np.int64)",
        },
    ),
    "extrapolated from two": Fault(
        "plain",
        ("adds-up",),
        {
            _PLAIN_Q: "    before = np.zeros(2, x.dtype)\n"
            "    q = quantised(np.diff(np.concatenate((before, x)), n=2), step)\n"
            "    q = np.cumsum(np.cumsum(q, dtype=np.int32), dtype=np.int32)\n",
            **UNCHECKED,
        },
    ),
    "Lorenzo of originals": Fault(
        "tiles",
        ("adds-up",),
        {
            "body = differences(q).tobytes()": (
                "d = differences(np.where(apart, 0, data / step))\n"
                "    body = np.rint(d).astype(np.int64).tobytes()"
            )
        },
    ),
}
HALO = {
    "difference to the block before": Fault(
        "blocks",
        ("block-border",),
        {
            _BLOCKS_DIFFERENCES: "before = q[i - 1, -1] if i else block[0]\n"
            "        differences = np.diff(block, prepend=before)"
        },
    ),
    "base of the block before": Fault(
        "blocks",
        ("block-border",),
        {"parts.append(block[:1]": "parts.append(q[max(i - 1, 0), -1:]"},
    ),
    "differences over the border": Fault(
        "tiles",
        ("block-border",),
        {
            "    t = tiled(q)\n": "    for axis in range(q.ndim):\n"
            "        q = np.diff(q, axis=axis, prepend=0)\n"
            "    return tiled(q)\n"
        },
    ),
    "sums over the border of the last axis": Fault(
        "tiles",
        ("block-border",),
        {
            _TILES_SUM: f"        if axis < t.ndim - 1:\n    {_TILES_SUM}",
            _TILES_WHOLE: f"    whole = np.cumsum(whole, axis=-1)\n{_TILES_WHOLE}",
        },
    ),
    "sums over the border of the first axis": Fault(
        "tiles",
        ("block-border",),
        {
            _TILES_SUMS: _TILES_SUMS.replace("1, t.ndim", "3, t.ndim"),
            _TILES_WHOLE: f"    whole = np.cumsum(whole, axis=0)\n{_TILES_WHOLE}",
        },
    ),
    "first plane of a tile": Fault(
        "tiles",
        ("block-border",),
        {"    whole = t.reshape": "    t[1:, 0] += t[:-1, -1]\n    whole = t.reshape"},
    ),
}
NON_FINITE = {
    "the decoder predicts from it": Fault(
        "feedback",
        ("beside-non-finite",),
        {
            "        if math.isfinite(y[i]):\n            last = np.float64(y[i])": (
                "        last = np.float64(y[i])"
            )
        },
    ),
    "it is the minimum of its block": Fault(
        "ranges",
        ("beside-non-finite",),
        {
            "if levels < 65536:": "if not levels >= 65536:",
            f"{_RANGES_CHECK}.all()": f"not {_RANGES_CHECK.replace('<', '>=')}.any()",
            "kind = np.uint8 if": "levels = levels if levels >= 0 else 1.0\n"
            "        kind = np.uint8 if",
        },
    ),
    "error >= bound is false": Fault(
        "plain", ("non-finite-lost",), {"~(error < abs_bound)": "error >= abs_bound"}
    ),
    "error >= bound is false in blocks": Fault(
        "blocks",
        ("non-finite-lost",),
        {_BLOCKS_CHECK: "~(np.abs(x.astype(np.float64) - y) >= abs_bound).any(axis=1)"},
    ),
    "Inf clamped": Fault(
        "plain",
        ("non-finite-lost",),
        {_PLAIN_X: "    x = np.clip(data.reshape(-1), -3e38, 3e38)\n"},
    ),
    "NaN to number": Fault(
        "tiles",
        ("non-finite-lost",),
        {"    data = np.atleast_1d(data)\n": "    data = np.nan_to_num(np.atleast_1d(data))\n"},
    ),
}
TAIL = {
    "not decoded": Fault(
        "blocks",
        ("tail",),
        {"in enumerate(codes.tolist())": "in enumerate(codes[: n // BLOCK].tolist())"},
    ),
    "not encoded": Fault(
        "ranges",
        ("tail",),
        {
            "for i in range(0, x.size, BLOCK)]": "for i in range(0, x.size - BLOCK + 1, BLOCK)]\n"
            "        parts.append((0, bytes(x.nbytes % (BLOCK * x.itemsize))))"
        },
    ),
    "filled with the first value": Fault(
        "plain",
        ("tail",),
        {
            "    return y.reshape(shape)": "    y[n // 128 * 128 :] = y[:1]\n"
            "    return y.reshape(shape)"
        },
    ),
}
SAMPLED = {
    "every 16th": Fault(
        "plain",
        ("sampled",),
        {_PLAIN_APART: f"    apart[np.arange(x.size) % 16 > 0] = False\n{_PLAIN_APART}"},
    ),
    "first of a block": Fault(
        "blocks", ("sampled",), {"< abs_bound).all(axis=1)": "< abs_bound)[:, 0]"}
    ),
    "every 16th of a block": Fault(
        "ranges",
        ("sampled",),
        {
            **_FEW_LEVELS,
            "if levels < 65536:": "if not levels >= 65536:",
            f"{_RANGES_CHECK}.all()": f"{_RANGES_CHECK}[::16].all()",
        },
    ),
}
FILL = {
    "in the range of a block": Fault(
        "ranges",
        ("beside-fill",),
        {**_FEW_LEVELS, f"{_RANGES_CHECK}.all()": "np.isfinite(block).all()"},
    ),
    "clamped": Fault(
        "plain",
        ("fill-value", "too-large"),
        {
            _PLAIN_X: f"{_PLAIN_X}    finite = np.isfinite(x)\n"
            "    x = np.where(finite, np.clip(x, -1e15, 1e15), x)\n"
        },
    ),
}
TYPES = {
    "float64 cast to float32": Fault(
        "plain",
        ("narrowed",),
        {_PLAIN_X: "    x = data.reshape(-1).astype(np.float32).astype(data.dtype)\n"},
    ),
    "float64 stored as float32": Fault(
        "blocks",
        ("narrowed",),
        {
            "parts.append(x[i].tobytes())": "parts.append(x[i].astype('f4').astype(x.dtype)"
            ".tobytes())"
        },
    ),
    "sign lost": Fault(
        "plain", ("negative-only",), {_PLAIN_APART: f"{_PLAIN_APART}    q = np.abs(q)\n"}
    ),
    "sign of the sum lost": Fault(
        "blocks",
        ("negative-only",),
        {"(base + np.cumsum(differences, dtype=np.int64))": "abs(base + np.cumsum(differences))"},
    ),
    "subnormals flushed": Fault(
        "plain",
        ("flushed",),
        {
            _PLAIN_X: f"{_PLAIN_X}    tiny = np.finfo(x.dtype).tiny\n"
            "    x = np.where(np.abs(x) < tiny, x * 0, x)\n"
        },
    ),
}
CLASSES: dict[str, dict[str, Fault]] = {
    "rounding": ROUNDING,
    "tolerance": TOLERANCE,
    "contraction": CONTRACTION,
    "overflow": OVERFLOW,
    "drift": DRIFT,
    "halo": HALO,
    "non-finite": NON_FINITE,
    "tail": TAIL,
    "sampled": SAMPLED,
    "fill": FILL,
    "types": TYPES,
}
FAULTS: dict[str, Fault] = {
    f"{name}: {what}": fault for name, each in CLASSES.items() for what, fault in each.items()
}
