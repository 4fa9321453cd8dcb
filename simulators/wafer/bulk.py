"""Vector operations on memory alone: done at once, in a number of cycles that is computed.

Cycles: setup + elements / rate. The rate is the least of the operation's SIMD width [DOC], of what
the strides let through [DOC, FAB] and of what the memory can read [FAB: 16 bytes a cycle of one
source, 8 of each of two]; two sources whose words lie in the same bank halve it [SPMM: 2n + 6].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled
from .dsd import Vector
from .operands import address, check, read, write
from .state_layout import (
    H_BANKS,
    H_RATES,
    H_WIDTHS,
    H_WSE,
    P_CARRY,
    P_MEMORY,
    U_COUNT,
    U_OP,
    U_OPERANDS,
    U_PC,
    U_TOTAL,
    X_BASE,
    X_CIRCULAR,
    X_KIND,
    X_MEMORY,
    X_MEMORY_4D,
    X_POINTER,
    X_SCALAR,
    X_SIZE,
    X_STRIDE,
)
from .vector_rules import carries, combine

Flat = npt.NDArray[np.int64]
Memory = npt.NDArray[np.uint16]

OPERATIONS = len(Vector)


@compiled
def _stride_rate(S: Flat, x: int, size: int, rate: int) -> int:
    """Elements per 64 cycles that a memory operand lets through."""
    kind = S[x + X_KIND]
    if kind != X_MEMORY and kind != X_POINTER:
        return rate
    stride = abs(S[x + X_STRIDE]) // size
    if stride <= 1:
        return rate
    if S[H_WSE] == 3:
        # Strided reads of 16 bits at 8 / stride [FAB].
        return int(min(rate, max(64, 64 * 8 * 2 // (stride * size))))
    left = stride & 7
    if left == 0:
        return min(rate, 64)
    if left == 1 or left == 4 or left == 7:
        return min(rate, 128)
    return rate


@compiled
def cycles(S: Flat, u: int) -> int:  # noqa: C901 - compiled: one hot piece
    """Of the operation at u, besides what its instruction costs."""
    op = S[u + U_OP]
    total = S[u + U_TOTAL]
    rate = S[S[H_RATES] + OPERATIONS + op]
    widths = S[S[H_WIDTHS] + op]
    sources = 0
    first = 0
    clash = False
    for i in range(S[u + U_COUNT]):
        x = u + U_OPERANDS + i * X_SIZE
        kind = S[x + X_KIND]
        if kind != X_MEMORY and kind != X_MEMORY_4D and kind != X_CIRCULAR:
            if i == 1 and kind == X_POINTER:
                # A reduction: every element needs the one before it [FAB: 2.00 cycles].
                rate = min(rate, 32)
            continue
        size = 4 if (widths >> i) & 1 else 2
        rate = _stride_rate(S, x, size, rate)
        if i == 0:
            if S[x + X_STRIDE] == 0:
                # Every element needs the one before it [FAB: 2.00 cycles].
                rate = min(rate, 32)
            continue
        sources += 1
        if sources == 1:
            first = S[x + X_BASE]
        elif ((S[x + X_BASE] - first) >> 1) & 7 == 0:
            clash = True
    if S[H_WSE] == 3:
        bytes_per_cycle = 8 if sources > 1 else 16
        rate = min(rate, 64 * bytes_per_cycle // (4 if widths & 1 else 2))
    if sources > 1 and clash and S[H_BANKS]:
        rate = (rate + 1) >> 1
    return int(S[S[H_RATES] + op] + (64 * total + rate - 1) // rate)


@compiled
def _linear(S: Flat, x: int) -> bool:
    kind = S[x + X_KIND]
    return bool(kind != X_MEMORY_4D and kind != X_CIRCULAR)


@compiled
def operate(  # noqa: C901, PLR0915 - compiled: three loops for what operands can be
    S: Flat, M: Memory, pe: int, block: int, u: int
) -> int:
    """Do the operation at u; the cycles it takes. A range that isn't one variable's is a halt."""
    op = S[u + U_OP]
    n = S[u + U_TOTAL]
    widths = S[S[H_WIDTHS] + op]
    m = S[block + P_MEMORY]
    x0 = u + U_OPERANDS
    x1 = x0 + X_SIZE
    x2 = x1 + X_SIZE
    x3 = x2 + X_SIZE
    count = S[u + U_COUNT]
    carry = S[block + P_CARRY]
    linear = True
    for i in range(count):
        x = x0 + i * X_SIZE
        if not check(S, pe, S[u + U_PC], block, x, n, (widths >> i) & 1):
            return 0
        linear = linear and _linear(S, x)
    k1 = S[x1 + X_KIND] == X_SCALAR
    k2 = count < 3 or S[x2 + X_KIND] == X_SCALAR
    v1 = S[x1 + X_BASE]
    v2 = S[x2 + X_BASE] if count > 2 else 0
    v3 = S[x3 + X_BASE] if count > 3 else 0
    if linear and widths & 3 == 3:
        _singles(S, M, op, m, n, x0, x1, x2, k1, k2, v1, v2, v3)
    elif linear:
        a0, a1, a2 = S[x0 + X_BASE], v1, v2
        s0, s1 = S[x0 + X_STRIDE], S[x1 + X_STRIDE]
        s2 = S[x2 + X_STRIDE] if count > 2 else 0
        w0, w1, w2 = widths & 1, (widths >> 1) & 1, (widths >> 2) & 1
        for _ in range(n):
            p = v1 if k1 else read(M, m, a1, w1)
            q = v2 if k2 else read(M, m, a2, w2)
            write(M, m, a0, combine(op, p, q, v3, carry), w0)
            if op == Vector.ADDC16:
                carry = carries(op, p, q, carry)
            a0 += s0
            a1 += s1
            a2 += s2
        S[block + P_CARRY] = carry
    else:
        for i in range(n):
            p = v1 if k1 else read(M, m, address(S, x1, i), (widths >> 1) & 1)
            q = v2 if k2 else read(M, m, address(S, x2, i), (widths >> 2) & 1)
            write(M, m, address(S, x0, i), combine(op, p, q, v3, carry), widths & 1)
            if op == Vector.ADDC16:
                carry = carries(op, p, q, carry)
        S[block + P_CARRY] = carry
    return cycles(S, u)


@compiled
def _singles(  # noqa: PLR0913 - compiled: one loop per operation that programs live on
    S: Flat,
    M: Memory,
    op: int,
    m: int,
    n: int,
    x0: int,
    x1: int,
    x2: int,
    k1: bool,
    k2: bool,
    v1: int,
    v2: int,
    v3: int,
) -> None:
    """32-bit operations with strides."""
    a0, s0 = m + (S[x0 + X_BASE] >> 1), S[x0 + X_STRIDE] >> 1
    a1, s1 = m + (v1 >> 1), S[x1 + X_STRIDE] >> 1
    a2, s2 = m + (v2 >> 1), S[x2 + X_STRIDE] >> 1
    for _ in range(n):
        p = v1 if k1 else int(np.int64(M[a1]) | np.int64(M[a1 + 1]) << 16)
        q = v2 if k2 else int(np.int64(M[a2]) | np.int64(M[a2 + 1]) << 16)
        r = combine(op, p, q, v3, 0)
        M[a0] = r & 0xFFFF
        M[a0 + 1] = (r >> 16) & 0xFFFF
        a0 += s0
        a1 += s1
        a2 += s2
