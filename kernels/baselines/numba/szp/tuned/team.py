"""Several threads on one array: each takes the next slab from a shared counter until none is left.

The calling thread works too and never waits for a helper to wake up: who comes late finds less to
do. Helpers are kept, and sleep between calls. A worker is a compiled function that gives up the
GIL, allocates nothing after its first claim and raises nothing, so that a claimed slab gets done.
"""

import contextlib
import threading
import time

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 8
"""Counters that different threads change lie in different lines of the cache."""
CLAIMED, DONE, SEATS, TURN, AT, CHECK = 0, LINE, 2 * LINE, 3 * LINE, 3 * LINE + 1, 4 * LINE
FREE = 5 * LINE
"""From here on a kernel may keep values of its own."""
_PATIENCE = 1023
"""Looks between two offers of the core to whoever else wants it."""


def counters():
    return np.zeros(FREE + 2 * LINE, np.int64)


# ---- between threads -----------------------------------------------------------------------------


def _pointer(context, builder, sig, args):
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


def _changed(operation):
    def change(_typing, shared, _index, _value):
        def codegen(context, builder, sig, args):
            pointer = _pointer(context, builder, sig, args)
            return builder.atomic_rmw(operation, pointer, args[2], "seq_cst")

        return types.int64(shared, types.int64, types.int64), codegen

    return intrinsic(change)


add = _changed("add")
"""Add to shared[index] so that no other thread comes between; the result is what it was before."""
lift = _changed("max")
"""The same, but make it at least the value."""
sink = _changed("min")
"""The same, but make it at most the value."""


@intrinsic
def look(_typing, shared, _index):
    """shared[index], and after it whatever its writer wrote before."""

    def codegen(context, builder, sig, args):
        return builder.load_atomic(_pointer(context, builder, sig, args), "acquire", align=8)

    return types.int64(shared, types.int64), codegen


@intrinsic
def tell(_typing, shared, _index, _value):
    """Set shared[index], for `look`."""

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig, args)
        builder.store_atomic(args[2], pointer, "release", align=8)
        return context.get_dummy_value()

    return types.void(shared, types.int64, types.int64), codegen


@intrinsic
def give_way(_typing):
    """Let another thread have the core (sched_yield(2))."""

    def codegen(_context, builder, _sig, _args):
        kind = ir.FunctionType(ir.IntType(32), [])
        call = cgutils.get_or_insert_function(builder.module, kind, "sched_yield")
        return builder.call(call, [])

    return types.int32(), codegen


@njit
def wait_for(shared, index, value):
    """Until shared[index] is at least the value: what is waited for is being computed."""
    looks = 0
    while look(shared, index) < value:
        looks += 1
        if looks & _PATIENCE == 0:
            give_way()


@njit
def finish(shared, done, slabs):
    """Tell that this thread has done so many of the slabs, and wait until all are."""
    add(shared, DONE, done)
    wait_for(shared, DONE, slabs)


# ---- helpers -------------------------------------------------------------------------------------

_helpers = []


class _Helper(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.job = None
        self._begin = threading.Lock()
        self._begin.acquire()
        self.start()

    def set_to(self, function, args):
        self.job = function, args
        self._begin.release()

    def run(self):
        while True:
            self._begin.acquire()
            # The calling thread meets the same error, or does what this one leaves undone.
            with contextlib.suppress(Exception):
                self._work()
            self.job = None

    def _work(self):
        function, args = self.job
        function(*args)


def size():
    """How many threads this process may use; only for more than one is numba's layer started."""
    return 1 if numba.config.NUMBA_NUM_THREADS == 1 else numba.get_num_threads()


def settle():
    """Wait until no helper holds an array of the call before: moments, if at all."""
    _helpers[:] = [helper for helper in _helpers if helper.is_alive()]
    for helper in _helpers:
        while helper.job is not None:
            time.sleep(0)


def together(threads, function, *args):
    """Call the function in this thread and in threads - 1 others.

    It returns when all slabs are done, which the function itself waits for.
    """
    if threads > 1:
        settle()
        while len(_helpers) < threads - 1:
            _helpers.append(_Helper())
        for helper in _helpers[: threads - 1]:
            helper.set_to(function, args)
    function(*args)
