"""One cycle of the routers: `fabric_step`.

Rules. A router has a buffer of `router_depth` words per (colour, port it may receive from). Each
cycle each colour of a router works on one word: the current one, or, if there is none, the first of
a buffer that its present position receives from; of several the buffer that was longest without
giving one (ties: the port's number). When a word becomes current its way is fixed: the outputs are
those of the present position; a filter may refuse it to the RAMP, a control wavelet's first command
may keep it from there, and if the switch pops that command all outputs get the wavelet without it.
Then every output takes it when it can, not all at once, and the last one frees its place: so no
multicast waits for two outputs in the same cycle, and a slow tap delays later words, not this one.
An output takes one word per cycle, from the colour that moved longest ago (ties: the lower number),
if the place it goes to had room at the start of the cycle. A word that nothing takes (refused) is
dropped in a cycle of its own. The switch changes when its control wavelet has left by all outputs:
the next word, from the next cycle on, sees it. The ramp from the output queues takes one word per
cycle, likewise from the colour that it took longest ago (then the lower colour, the lower queue).

Nothing done in a cycle is seen by another router in that cycle: words carry the cycle from which
they may leave, and a place freed in a cycle counts as taken until the next. So the order in which
routers are stepped changes nothing. Routers are stepped only when something arrived, was freed, or
was left over.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiling import compiled, prefetch
from .control_wavelets import pop_command
from .fabric import buffer_of, go_to_position, node_of, schedule
from .fabric_bits import count_bits, lowest
from .fabric_layout import (
    A_ADVANCE,
    A_NONE,
    A_RESET,
    A_TEARDOWN,
    B_BIT,
    B_FIRST,
    B_FROM,
    B_KEY,
    B_LENGTH,
    B_POP,
    B_READY,
    B_RECORD,
    B_RING,
    F_PLAIN,
    F_POP_SHIFT,
    F_RING,
    F_SWAP,
    F_TEARDOWN,
    G_COUNT_CONTROL,
    G_COUNT_DATA,
    G_COUNTER,
    G_DISABLED,
    G_FILTER_CONTROL,
    G_FLAGS,
    G_HIGH,
    G_KIND,
    G_LIMIT1,
    G_LIMIT2,
    G_LOW,
    G_MAX,
    H_COUNT,
    H_DEPTH,
    H_HOP,
    H_LIST,
    H_NOW,
    H_SCRATCH,
    H_TABLE,
    H_WAKE_LIST,
    H_WAKES,
    N_ACTION,
    N_BUFFERS,
    N_COLOR,
    N_COLOR_X,
    N_COLOR_Y,
    N_CURRENT,
    N_FILTER,
    N_FLAGS,
    N_HAVE,
    N_HOST,
    N_INDEX,
    N_KEY,
    N_OUT,
    N_PENDING,
    N_POSITION,
    N_QUEUE,
    N_RX,
    N_SIZE,
    N_SPEC,
    N_TX,
    N_WORD,
    P_BUSY,
    P_LINKS,
    P_NODE,
    P_OUTPUT,
    P_PE,
    P_SCHEDULED,
    P_SENDING,
    P_TEARDOWN,
    Q_BUFFER,
    Q_CAPACITY,
    Q_FIRST,
    Q_LENGTH,
    Q_POPS,
    Q_RING,
    Q_TIME,
    RAMP_OUT,
    S_BITS,
    S_VALID,
    W_ADVANCE,
    W_COLOR_SHIFT,
    W_CONTROL,
)
from .program import FilterKind, PopMode, Port

Flat = npt.NDArray[np.int64]

RAMP = int(Port.RAMP)
HOST = int(Port.HOST)
EAST = int(Port.EAST)
RAMP_BIT = 1 << RAMP
COUNTER = int(FilterKind.COUNTER)
SPARSE_COUNTER = int(FilterKind.SPARSE_COUNTER)
RANGE = int(FilterKind.RANGE)
ALWAYS_POP = int(PopMode.ALWAYS_POP)
POP_ON_ADVANCE = int(PopMode.POP_ON_ADVANCE)
POP_ON_ADVANCE_NOP = int(PopMode.POP_ON_ADVANCE_NOP)
WOKEN = 1 << 8
FAR, NEAR = 8, 4
"""How many routers ahead their state is fetched, first the record, then the busy nodes."""
DATA_BITS = 0xFFFFFFFF
COLOR_BITS = ~(31 << W_COLOR_SHIFT)


@compiled
def _wake(F: Flat, record: int) -> None:
    if F[record + P_SCHEDULED] & WOKEN == 0:
        F[record + P_SCHEDULED] |= WOKEN
        F[F[H_WAKE_LIST] + F[H_WAKES]] = F[record + P_PE]
        F[H_WAKES] += 1


@compiled
def _passes(F: Flat, filter_: int, word: int) -> bool:
    """Whether a filter lets a word up the ramp; counts it.

    Counters begin at init_counter, are compared before they are incremented, and go to 0 after
    limit1, so their period is limit1 + 1 (what fft-1d-2d needs; the documentation's "every 5th"
    would be one less). A control wavelet passes a counter with filter_control only at max_counter.
    """
    kind = F[filter_ + G_KIND]
    control = word & W_CONTROL != 0
    if kind == RANGE:
        index = (word >> 16) & 0xFFFF
        return bool(control or F[filter_ + G_LOW] <= index <= F[filter_ + G_HIGH])
    flags = F[filter_ + G_FLAGS]
    if flags & G_DISABLED:
        return True
    counter = F[filter_ + G_COUNTER]
    if flags & (G_COUNT_CONTROL if control else G_COUNT_DATA):
        if counter != F[filter_ + G_LIMIT1]:
            F[filter_ + G_COUNTER] = counter + 1
        else:
            F[filter_ + G_COUNTER] = 0
            if kind == SPARSE_COUNTER:
                if F[filter_ + G_LIMIT2]:
                    F[filter_ + G_LIMIT1] = F[filter_ + G_LIMIT2]
                    F[filter_ + G_LIMIT2] = 0
                else:
                    F[filter_ + G_FLAGS] = flags | G_DISABLED
    if control and flags & G_FILTER_CONTROL:
        return bool(counter == F[filter_ + G_MAX])
    return bool(counter <= F[filter_ + G_MAX])


@compiled
def _next_position(F: Flat, node: int) -> int:
    """Where an advance leads: the next position if valid, else around or nowhere."""
    position = F[node + N_POSITION]
    if position < 3 and (F[node + N_SPEC] >> ((position + 1) * S_BITS)) & S_VALID:
        return int(position + 1)
    return 0 if F[node + N_FLAGS] & F_RING else int(position)


@compiled
def _enter(F: Flat, node: int, word: int) -> None:
    """Make a word the current one where more than its route matters: filter, control, advance."""
    pending = F[node + N_TX]
    action = A_NONE
    filter_ = F[node + N_FILTER]
    if filter_ and not _passes(F, filter_, word):
        pending &= ~RAMP_BIT
    if word & W_ADVANCE:
        action = A_ADVANCE
        word &= ~W_ADVANCE
    if word & W_CONTROL:
        command = (word >> 22) & 7
        action = command & 3
        if command & 4:
            pending &= ~RAMP_BIT
        mode = (F[node + N_FLAGS] >> F_POP_SHIFT) & 3
        pops = mode == ALWAYS_POP
        if mode >= POP_ON_ADVANCE:
            pops = action == A_ADVANCE and _next_position(F, node) != F[node + N_POSITION]
            pops = pops or (mode == POP_ON_ADVANCE_NOP and action == A_NONE)
        if pops:
            word = (word & ~DATA_BITS) | pop_command(word & DATA_BITS)
    F[node + N_WORD] = word
    F[node + N_PENDING] = pending
    F[node + N_ACTION] = action


@compiled
def _act(F: Flat, record: int, node: int, action: int) -> None:
    """Do to the switch what the word that has left said."""
    F[node + N_ACTION] = A_NONE
    if action == A_ADVANCE:
        go_to_position(F, node, _next_position(F, node))
    elif action == A_RESET:
        go_to_position(F, node, 0)
    elif action == A_TEARDOWN:
        F[node + N_FLAGS] |= F_TEARDOWN
        F[record + P_TEARDOWN] |= 1 << F[node + N_COLOR]
        _wake(F, record)


@compiled
def _foresee(F: Flat, place: int, left: int) -> None:
    """Have at hand what the routers will touch that are stepped soon."""
    if left > FAR:
        record = F[place + FAR]
        prefetch(F, record)
        prefetch(F, record + 8)
        prefetch(F, record + 16)
        prefetch(F, record + 24)
    if left > NEAR:
        record = F[place + NEAR]
        node = F[record + P_NODE]
        busy = F[record + P_BUSY]
        while busy:
            one = node + lowest(busy) * N_SIZE
            busy &= busy - 1
            prefetch(F, one)
            prefetch(F, one + 8)


@compiled
def fabric_step(F: Flat, t: int) -> None:  # noqa: C901, PLR0915 - one hot loop
    """Move words in cycle t, after the PEs acted in it.

    Then the PEs of which an empty input got a word, a full output queue got room or a colour went
    into teardown are the first F[H_WAKES] entries at F[H_WAKE_LIST], once each and until the next
    step. They see it from cycle t + 1 on.
    """
    for i in range(F[H_WAKES]):
        F[F[F[H_TABLE] + F[F[H_WAKE_LIST] + i]] + P_SCHEDULED] &= ~WOKEN
    F[H_WAKES] = 0
    slot = t & 3
    listed = F[H_LIST + slot]
    count = F[H_COUNT + slot]
    depth = F[H_DEPTH]
    hop = F[H_HOP]
    best = H_SCRATCH
    size = B_RING + depth
    for i in range(count):
        _foresee(F, listed + i, count - i)
        record = F[listed + i]
        F[record + P_SCHEDULED] &= ~(1 << slot)
        again = False

        # The ramp from the output queues into the router.
        sending = F[record + P_SENDING]
        if sending:
            least = 1 << 62
            chosen = 0
            chosen_bit = 0
            left = sending
            while left:
                queue = F[record + P_OUTPUT + lowest(left)]
                buffer = F[queue + Q_BUFFER]
                if buffer and F[buffer + B_LENGTH] < depth and F[buffer + B_KEY] < least:
                    least = F[buffer + B_KEY]
                    chosen = queue
                    chosen_bit = left & -left
                left &= left - 1
            if chosen:
                first = F[chosen + Q_FIRST]
                capacity = F[chosen + Q_CAPACITY]
                length = F[chosen + Q_LENGTH]
                buffer = F[chosen + Q_BUFFER]
                word = F[chosen + Q_RING + first]
                first = first + 1 if first + 1 < capacity else 0
                F[chosen + Q_FIRST] = first
                F[chosen + Q_LENGTH] = length - 1
                if length == capacity:
                    _wake(F, record)
                if length == 1:
                    sending &= ~chosen_bit
                    F[record + P_SENDING] = sending
                else:
                    following = F[chosen + Q_RING + first]
                    if (following ^ word) >> W_COLOR_SHIFT & 31:
                        color = (following >> W_COLOR_SHIFT) & 31
                        F[chosen + Q_BUFFER] = buffer_of(
                            F, node_of(F, F[record + P_PE], color), RAMP
                        )
                at = F[buffer + B_FIRST] + F[buffer + B_LENGTH]
                F[buffer + B_RING + (at if at < depth else at - depth)] = word
                F[buffer + B_LENGTH] += 1
                F[buffer + B_READY + 1] = F[buffer + B_READY]
                F[buffer + B_READY] = t + RAMP_OUT
                F[buffer + B_KEY] = t << 5 | (word >> W_COLOR_SHIFT) & 31
                F[record + P_BUSY] |= F[buffer + B_BIT]
                schedule(F, record, t + RAMP_OUT)
                again = sending != 0

        # Every colour's current word, and for every output the colour that has waited longest.
        busy = F[record + P_BUSY]
        nodes = F[record + P_NODE]
        wanted = 0
        left = busy
        while left:
            node = nodes + lowest(left) * N_SIZE
            left &= left - 1
            if F[node + N_CURRENT] < 0:
                flags = F[node + N_FLAGS]
                if flags & F_TEARDOWN:
                    continue
                ports = F[node + N_RX]
                port = -1
                oldest = 1 << 62
                word = 0
                while ports:
                    p = lowest(ports)
                    ports &= ports - 1
                    buffer = F[node + N_BUFFERS] + size * count_bits(
                        F[node + N_HAVE] & ((1 << p) - 1)
                    )
                    length = F[buffer + B_LENGTH]
                    if length < 3:
                        if F[buffer + B_READY] > t:
                            length -= 1
                        if F[buffer + B_READY + 1] > t:
                            length -= 1
                    if length > 0 and F[buffer + B_POP] < oldest:
                        oldest = F[buffer + B_POP]
                        port = p
                        word = F[buffer + B_RING + F[buffer + B_FIRST]]
                if port < 0:
                    continue
                F[node + N_CURRENT] = port
                if flags & F_PLAIN and word & (W_CONTROL | W_ADVANCE) == 0:
                    F[node + N_WORD] = word
                    F[node + N_PENDING] = F[node + N_TX]
                else:
                    _enter(F, node, word)
            pending = F[node + N_PENDING]
            if pending == 0:
                # Nothing takes it: it is dropped in the pass over the winners, below.
                F[best + HOST + 1] |= 1 << F[node + N_INDEX]
                wanted |= 1 << (HOST + 1)
                continue
            key = F[node + N_KEY]
            while pending:
                o = lowest(pending)
                pending &= pending - 1
                if o < RAMP:
                    buffer = F[node + N_OUT + o]
                    if buffer == 0 or F[buffer + B_LENGTH] + (F[buffer + B_POP] == t) >= depth:
                        continue
                else:
                    queue = F[node + (N_QUEUE if o == RAMP else N_HOST)]
                    room = F[queue + Q_CAPACITY] - F[queue + Q_LENGTH]
                    if F[queue + Q_TIME] == t:
                        room -= F[queue + Q_POPS]
                    if room <= 0:
                        continue
                if wanted & (1 << o) == 0:
                    wanted |= 1 << o
                    F[best + o] = node
                    F[best + 8 + o] = key
                elif key < F[best + 8 + o]:
                    F[best + o] = node
                    F[best + 8 + o] = key
        again = again or wanted != 0
        # The winners move; a word that has left by all its outputs frees its place.
        while wanted:
            o = lowest(wanted)
            if o > HOST:
                dropped = F[best + HOST + 1]
                if dropped == 0:
                    wanted &= wanted - 1
                    continue
                node = nodes + lowest(dropped) * N_SIZE
                F[best + HOST + 1] = dropped & (dropped - 1)
            else:
                wanted &= wanted - 1
                node = F[best + o]
                word = F[node + N_WORD]
                key = F[best + 8 + o]
                F[record + P_LINKS + o] += 1
                if o < RAMP:
                    if F[node + N_FLAGS] & F_SWAP:
                        color = F[node + (N_COLOR_X if o >= EAST else N_COLOR_Y)]
                        word = (word & COLOR_BITS) | color << W_COLOR_SHIFT
                    buffer = F[node + N_OUT + o]
                    at = F[buffer + B_FIRST] + F[buffer + B_LENGTH]
                    F[buffer + B_RING + (at if at < depth else at - depth)] = word
                    F[buffer + B_LENGTH] += 1
                    F[buffer + B_READY + 1] = F[buffer + B_READY]
                    F[buffer + B_READY] = t + hop
                    owner = F[buffer + B_RECORD]
                    F[owner + P_BUSY] |= F[buffer + B_BIT]
                    schedule(F, owner, t + hop)
                else:
                    queue = F[node + (N_QUEUE if o == RAMP else N_HOST)]
                    length = F[queue + Q_LENGTH]
                    capacity = F[queue + Q_CAPACITY]
                    at = F[queue + Q_FIRST] + length
                    F[queue + Q_RING + (at if at < capacity else at - capacity)] = word
                    F[queue + Q_LENGTH] = length + 1
                    if length == 0 and o == RAMP:
                        _wake(F, record)
                F[node + N_KEY] = t << 5 | key & 31
                F[node + N_PENDING] &= ~(1 << o)
                if F[node + N_PENDING]:
                    continue
            buffer = F[node + N_BUFFERS] + size * count_bits(
                F[node + N_HAVE] & ((1 << F[node + N_CURRENT]) - 1)
            )
            length = F[buffer + B_LENGTH]
            first = F[buffer + B_FIRST]
            F[buffer + B_FIRST] = first + 1 if first + 1 < depth else 0
            F[buffer + B_LENGTH] = length - 1
            F[buffer + B_POP] = t
            F[node + N_CURRENT] = -1
            if length == depth and F[buffer + B_FROM]:
                schedule(F, F[buffer + B_FROM], t + 1)
            if length == 1:
                other = F[node + N_BUFFERS]
                for _ in range(count_bits(F[node + N_HAVE])):
                    length += F[other + B_LENGTH]
                    other += size
                if length == 1:
                    F[record + P_BUSY] &= ~F[buffer + B_BIT]
            if F[node + N_ACTION]:
                _act(F, record, node, F[node + N_ACTION])
        if again and (F[record + P_BUSY] or F[record + P_SENDING]):
            schedule(F, record, t + 1)
    F[H_COUNT + slot] = 0
    F[H_NOW] = t + 1
