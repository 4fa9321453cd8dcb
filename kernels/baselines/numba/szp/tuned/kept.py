"""Large buffers that are kept, and used again once nobody holds a view of them.

The first touch of fresh memory costs as much as encoding into it.
"""

import sys

import numpy as np

LINE_BYTES = 64
_kept = {}


def buffer(name, size):
    """`size` bytes of the kept buffer, or of a new one while someone still holds a view of it.

    They start where a line of the cache does: vectors that lie across two are stored slowly.
    """
    kept = _kept.pop(name, None)
    unshared = np.empty(0, np.uint8)
    room = size + LINE_BYTES
    if kept is None or kept.size < room or sys.getrefcount(kept) > sys.getrefcount(unshared):
        kept = np.empty(room, np.uint8)
    _kept[name] = kept
    start = -kept.ctypes.data % LINE_BYTES
    return kept[start : start + size]
