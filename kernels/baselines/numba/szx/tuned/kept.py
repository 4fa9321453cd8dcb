"""Large buffers that are kept, and used again once nobody holds a view of them.

The first touch of fresh memory costs as much as encoding into it.
"""

import sys

import numpy as np

LINE_BYTES = 64
PAGE_BYTES = 1 << 21
"""Of a huge page, which NumPy asks the kernel for where an array has 4 MB or more: a field of as
much in small pages has hundreds, and each is looked up anew when others have been at work."""
_kept = {}


def buffer(name, size):
    """`size` bytes of the kept buffer, or of a new one while someone still holds a view of it.

    They start where a line of the cache does: vectors that lie across two are stored slowly; if
    they are many, where a huge page does, and what follows fills their last one.
    """
    kept, start = _kept.pop(name, (None, 0))
    unshared = np.empty(0, np.uint8)
    if (
        kept is None
        or kept.size < start + size
        or sys.getrefcount(kept) > sys.getrefcount(unshared)
    ):
        unit = PAGE_BYTES if size >= PAGE_BYTES // 2 else LINE_BYTES
        kept = np.empty((-(-size // unit) + 1) * unit, np.uint8)
        start = -kept.ctypes.data % unit
    _kept[name] = kept, start
    return kept[start : start + size]
