"""Where everything of the fabric's state is in its one flat int64 array, F.

Every PE with a route or a queue has a block: a record, its queues, a node per configured colour,
and a buffer per (colour, port it may receive from). Offset 0 is a block of zeros: the record of PEs
without anything, and an empty queue of no capacity. Masks of ports are those of `program.Port`.
"""

from __future__ import annotations

NULL_SIZE = 64
"""Zeros at the start of F, so that offset 0 reads as nothing."""

# The header.
H_NOW = 64
"""The current cycle."""
H_PES = 65
H_WIDTH = 66
H_HEIGHT = 67
H_HOP = 68
H_DEPTH = 69
"""Words of a router's buffer."""
H_TABLE = 70
"""Where the offsets of the PEs' records begin."""
H_LIST = 71
"""4: where the lists of records to step in cycles t % 4 begin."""
H_COUNT = 75
"""4: their lengths."""
H_WAKES = 79
"""How many PEs were woken by the last step."""
H_WAKE_LIST = 80
"""Where their indices begin."""
H_SCRATCH = 81
"""16: per output the best node, the mask of nodes whose word is dropped, and 8 on the keys."""
H_END = 104

# The record of a PE.
P_PE = 0
P_NODES = 1
P_NODE = 2
"""Offset of its first node; the others follow."""
P_COLORS = 3
"""3: per colour 8 bits, 1 + the index of its node, 0: none."""
P_BUSY = 6
"""Mask of nodes (by index) with words in their buffers."""
P_SCHEDULED = 7
"""Bits 0-3: in the list of cycles t % 4; bit 8: in the list of PEs woken."""
P_SENDING = 8
"""Mask of output queues with words."""
P_TEARDOWN = 9
"""Mask of colours that went into teardown, until taken."""
P_INPUT = 10
"""8: offsets of the input queues."""
P_OUTPUT = 18
"""8: offsets of the output queues."""
P_LINKS = 26
"""6: words that left by each port."""
P_SIZE = 32

# A queue.
Q_LENGTH = 0
Q_FIRST = 1
"""Index in its ring of the oldest word."""
Q_CAPACITY = 2
Q_TIME = 3
"""Cycle of the last pop by the PE or the host."""
Q_POPS = 4
"""Pops in that cycle."""
Q_BUFFER = 5
"""Output queues: the buffer behind the ramp that the oldest word goes to; 0: there is none."""
Q_RING = 6

# A buffer of a router.
B_LENGTH = 0
B_FIRST = 1
B_READY = 2
"""2: cycles from which the last word and the one before it may leave."""
B_POP = 4
"""Cycle in which a word last left."""
B_FROM = 5
"""Record of the PE that fills it; 0: the host."""
B_RECORD = 6
"""Record of its own PE."""
B_BIT = 7
"""Its node's bit in P_BUSY."""
B_KEY = 8
"""Buffers behind the ramp: as N_KEY, for the ramp."""
B_RING = 9

# A node: one colour in one router; what every move needs comes first, in two lines of cache.
N_CURRENT = 0
"""Port of the word that is leaving; -1: none."""
N_PENDING = 1
"""Outputs it has still to take."""
N_RX = 2
"""Ports it receives from now, as far as there are buffers."""
N_KEY = 3
"""Cycle of the last move * 32 + colour (never: cycle -1): the least goes first."""
N_TX = 4
N_FLAGS = 5
N_WORD = 6
"""The word that is leaving, as it leaves."""
N_ACTION = 7
"""What the switch does when it has left."""
N_OUT = 8
"""4: the neighbours' buffers that its outputs lead to; 0: nowhere."""
N_QUEUE = 12
"""The input queue behind the ramp."""
N_HOST = 13
"""The queue of words for the host."""
N_BUFFERS = 14
"""Where its buffers begin: those of the ports in N_HAVE, one after the other."""
N_HAVE = 15
"""Mask of ports with buffers."""
N_COLOR = 16
N_COLOR_X = 17
"""As which it leaves to east and west."""
N_COLOR_Y = 18
N_POSITION = 19
N_SPEC = 20
"""Per position 15 bits: rx, tx, has rx, has tx, valid."""
N_FILTER = 21
"""Offset of its filter; 0: none."""
N_INDEX = 22
"""Among the PE's nodes."""
N_SIZE = 24

# Flags of a node.
F_RING = 1
F_POP_SHIFT = 1
"""2 bits."""
F_TEARDOWN = 8
"""In teardown: nothing moves."""
F_PLAIN = 16
"""No filter: only control words and those with ADVANCE need more than routing."""
F_SWAP = 32
"""Its words leave some link as another colour."""

# N_SPEC.
S_BITS = 15
S_TX = 6
S_HAS_RX = 1 << 12
S_HAS_TX = 1 << 13
S_VALID = 1 << 14

# A filter.
G_KIND = 0
G_COUNTER = 1
G_LIMIT1 = 2
G_LIMIT2 = 3
"""0: used up or none."""
G_MAX = 4
G_FLAGS = 5
G_LOW = 6
G_HIGH = 7
G_SIZE = 8
G_COUNT_DATA = 1
G_COUNT_CONTROL = 2
G_FILTER_CONTROL = 4
G_DISABLED = 8

# Words: 32 bits of data, then these.
W_CONTROL = 1 << 32
W_COLOR_SHIFT = 33
W_ADVANCE = 1 << 38
"""Advances the switch of the router that it enters by the ramp."""

# What a switch does; the opcodes of control wavelets.
A_NONE = 0
A_ADVANCE = 1
A_RESET = 2
A_TEARDOWN = 3

RAMP_OUT = 2
"""Cycles from a push into an output queue to the router, if the ramp is free."""
HOST_WORDS = 16
"""Words of the queue in which a PE's stream waits for the host."""
