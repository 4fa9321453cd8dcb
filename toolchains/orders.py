"""An emulated kernel's session: every call twice, threads in ascending and in descending order.

On a GPU neither order is promised. What depends on it is a race, or counts on the order of atomic
operations; nothing else is said of such a kernel. A compressor may write a stream that depends on
it, if every such stream is decompressed to the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernels.records import Arg, Array, Failure, FailureKind, Status
from toolchains.around import Around
from toolchains.base import Fill, Reply
from toolchains.children.session import ChildSession

Outputs = tuple[tuple[Array, ...], ...]
_SHOWN = 4
"""Differing places that a message names."""


class OrderedSession(Around):
    """Implements `toolchains.base.Session` for emulated GPUs."""

    def __init__(self, session: ChildSession) -> None:
        """session: of children that emulate a GPU."""
        super().__init__(session)
        self._children = session

    def call(
        self,
        function: str,
        items: Sequence[tuple[Arg, ...]],
        *,
        capacity: Sequence[int],
        deadline_s: float,
        profiled: bool = False,
        fill: Fill | None = None,
    ) -> Reply | Failure:
        """See `Session.call`: the reply in ascending order, if the other order agrees."""
        session = self._children
        first = session.call(
            function,
            items,
            capacity=capacity,
            deadline_s=deadline_s,
            profiled=profiled,
            fill=fill,
        )
        if isinstance(first, Failure):
            return first
        # The next call takes their places.
        first = replace(first, inputs=_copied(first.inputs), outputs=_all_copied(first.outputs))
        session.order(descending=True)
        try:
            second = session.call(
                function,
                _filled(items, first.inputs) if fill else items,
                capacity=capacity,
                deadline_s=deadline_s,
            )
        finally:
            session.order(descending=False)
        if isinstance(second, Failure):
            return _only_descending(second)
        differs = _difference(function, first.outputs, second.outputs)
        if differs is None:
            return first
        if function == "compress":
            return self._same_values(first, second, items, differs) or first
        return differs

    def _same_values(
        self, first: Reply, second: Reply, items: Sequence[tuple[Arg, ...]], differs: Failure
    ) -> Failure | None:
        """Whether streams that differ are decompressed to the same values all the same."""
        streams = _all_copied(second.outputs)
        for (ascending,), (descending,), item in zip(first.outputs, streams, items, strict=True):
            decoded = [self._decoded(s, item[0]) for s in (ascending, descending)]
            if isinstance(decoded[0], Failure):
                # The caller will meet the same on the stream it is given.
                return None
            if isinstance(decoded[1], Failure):
                return differs
            if _difference("decompress", (decoded[0],), (decoded[1],)) is not None:
                return differs
        return None

    def _decoded(self, stream: Array, like: Arg) -> tuple[Array, ...] | Failure:
        assert isinstance(like, np.ndarray)
        reply = self._session.call(
            "decompress",
            [(stream, like.shape, like.dtype)],
            capacity=(2 * like.nbytes + (1 << 16),),
            deadline_s=10.0 + like.nbytes / 2e6,
        )
        return reply if isinstance(reply, Failure) else _copied(reply.outputs[0])


def _copied(arrays: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(array.copy() for array in arrays)


def _all_copied(outputs: Outputs) -> Outputs:
    return tuple(_copied(arrays) for arrays in outputs)


def _filled(items: Sequence[tuple[Arg, ...]], content: tuple[Array, ...]) -> list[tuple[Arg, ...]]:
    """The items with the arrays that were written in the first call."""
    left = iter(content)
    return [tuple(next(left) if isinstance(v, np.ndarray) else v for v in item) for item in items]


def _only_descending(failure: Failure) -> Failure:
    text = (
        f"with threads in descending order (in ascending order it did not fail): {failure.message}"
    )
    return replace(failure, message=text)


def _difference(function: str, first: Outputs, second: Outputs) -> Failure | None:
    """What differs, as a failure; None if nothing does, bit by bit."""
    for i, (ours, theirs) in enumerate(zip(first, second, strict=True)):
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            where = f"output {k}" + (f" of call {i}" if len(first) > 1 else "")
            if a.shape != b.shape or a.dtype != b.dtype:
                return _depends(function, f"{where} is {_form(a)} or {_form(b)}")
            wrong = np.flatnonzero((_bits(a) != _bits(b)).any(axis=1))
            if wrong.size:
                places = ", ".join(map(str, wrong[:_SHOWN].tolist()))
                more = ", ..." if wrong.size > _SHOWN else ""
                return _depends(
                    function,
                    f"{wrong.size} of {a.size} elements of {where} differ (flat {places}{more})",
                )
    return None


def _bits(array: Array) -> Array:
    """Bytes, one row per element."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(flat.size, array.dtype.itemsize)


def _form(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _depends(function: str, what: str) -> Failure:
    text = (
        f"{function} depends on the order in which threads run: {what} between ascending and "
        "descending order. Look for a missing __syncthreads or __syncwarp, two threads that write "
        "one place, atomics whose order shows in the result, and memory of cupy.empty that is read "
        "before it is written"
    )
    return Failure(Status.ERROR, Status.ROUNDTRIPS, FailureKind.ORDER, text)
