"""One pass of a codec over one array, in its two children, and one pass of a stage."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.records import Arg, Array, Failure, FailureKind, Status
from toolchains.base import Fill, Reply, Session
from toolchains.limits import deadline_s, output_room


@dataclass(frozen=True)
class Packed:
    """Streams of one request."""

    streams: tuple[Array, ...]
    """Copies, one per item."""
    reply: Reply


def compress(
    session: Session, arrays: Sequence[Array], abs_bound: float, fill: Fill | None = None
) -> Packed | Failure:
    """Compress each array; the streams are copied out. fill: as in `Session.call`."""
    items: list[tuple[Arg, ...]] = [(a, abs_bound) for a in arrays]
    rooms = [output_room(a.nbytes) for a in arrays]
    limit = deadline_s(sum(a.nbytes for a in arrays))
    reply = session.call("compress", items, capacity=rooms, deadline_s=limit, fill=fill)
    if isinstance(reply, Failure):
        return reply
    for outputs in reply.outputs:
        if len(outputs) != 1:
            return contract_failure(
                f"compress returned {len(outputs)} arrays; one 1-D uint8 array is needed"
            )
        # The child says so too, but a kernel can change what it says: numbers in the shape of a
        # stream of no bytes would reach the decoder uncounted.
        if outputs[0].dtype != np.uint8 or outputs[0].ndim != 1:
            return contract_failure(
                f"compress returned {_form(outputs[0])}; a 1-D uint8 array is needed"
            )
    streams = tuple(outputs[0].copy() for outputs in reply.outputs)
    return Packed(streams, reply)


def decompress(
    session: Session, streams: Sequence[Array], like: Sequence[Array]
) -> Reply | Failure:
    """Decompress each stream to the shape and dtype of its original."""
    items: list[tuple[Arg, ...]] = [
        (s, a.shape, a.dtype) for s, a in zip(streams, like, strict=True)
    ]
    rooms = [output_room(a.nbytes) for a in like]
    limit = deadline_s(sum(a.nbytes for a in like))
    reply = session.call("decompress", items, capacity=rooms, deadline_s=limit)
    if isinstance(reply, Failure):
        return reply
    for outputs, original in zip(reply.outputs, like, strict=True):
        wrong = _unlike(outputs, (original,), "decompress")
        if wrong is not None:
            return wrong
    return reply


def run_stage(
    session: Session,
    items: Sequence[tuple[Arg, ...]],
    golden: Sequence[tuple[Array, ...]],
    names: Sequence[str] = (),
) -> Reply | Failure:
    """Run a stage; outputs have the number, dtypes and shapes of the golden ones, named `names`."""
    rooms = [output_room(sum(a.nbytes for a in answer)) for answer in golden]
    limit = deadline_s(sum(rooms))
    reply = session.call("run", items, capacity=rooms, deadline_s=limit)
    if isinstance(reply, Failure):
        return reply
    for outputs, answer in zip(reply.outputs, golden, strict=True):
        wrong = _unlike(outputs, answer, "run", names)
        if wrong is not None:
            return wrong
    return reply


def contract_failure(message: str) -> Failure:
    """The kernel returned something other than the contract asks for."""
    return Failure(Status.ERROR, Status.ROUNDTRIPS, FailureKind.CONTRACT, message)


def swapped(order: Sequence[int], names: Sequence[str]) -> Failure:
    """A stage's outputs are right in themselves, and returned in another order."""
    got = ", ".join(names[i] for i in order)
    return contract_failure(
        f"run returned its outputs in another order: ({got}); ({', '.join(names)}) is needed"
    )


def reordered(
    outputs: Sequence[Array], wanted: Sequence[Array], like: Callable[[Array, Array], bool]
) -> tuple[int, ...] | None:
    """Which wanted output each is like, if that is one order other than the wanted one."""
    pairs = list(zip(outputs, wanted, strict=True))
    if all(like(got, want) for got, want in pairs):
        return None
    orders = [
        order
        for order in itertools.permutations(range(len(wanted)))
        if all(like(got, wanted[i]) for got, i in zip(outputs, order, strict=True))
    ]
    return orders[0] if orders else None


def _alike(got: Array, want: Array) -> bool:
    return got.dtype == want.dtype and got.shape == want.shape


def _unlike(
    outputs: Sequence[Array], wanted: Sequence[Array], function: str, names: Sequence[str] = ()
) -> Failure | None:
    if len(outputs) != len(wanted):
        asked = f" ({', '.join(names)})" if names else ""
        return contract_failure(
            f"{function} returned {len(outputs)} arrays, not {len(wanted)}{asked}"
        )
    order = reordered(outputs, wanted, _alike) if names else None
    if order is not None:
        return swapped(order, names)
    for i, (got, want) in enumerate(zip(outputs, wanted, strict=True)):
        if not _alike(got, want):
            which = f" as `{names[i]}`" if names else ""
            return contract_failure(
                f"{function} returned {_form(got)}{which}; {_form(want)} is needed"
            )
    return None


def _form(array: Array) -> str:
    return f"{np.dtype(array.dtype).name} of shape {array.shape}"
