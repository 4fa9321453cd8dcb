"""Where everything of the processing elements' state is in its one flat int64 array, S.

A header, tables of the code classes, the wheel of scheduled PEs, then a block per PE. Code is in an
int32 array C of four words per instruction, memory in an uint16 array M of all PEs' words.
"""

from __future__ import annotations

# The header.
H_NOW = 0
"""The current cycle."""
H_PES = 1
H_WIDTH = 2
H_BLOCKS = 3
"""Where the PEs' blocks begin."""
H_BLOCK = 4
"""Words of a block."""
H_WHEEL = 5
"""Where the heads of the wheel's slots begin; values are 1 + pe, 0: none."""
H_OCCUPIED = 6
"""Where the bitmap of slots that hold something begins."""
H_SCHEDULED = 7
"""PEs in the wheel."""
H_HALT = 8
"""A `HaltKind`."""
H_HALT_PE = 9
H_HALT_PC = 10
H_HALT_A = 11
H_HALT_B = 12
H_WAITING = 13
"""PEs that have not unblocked the command stream since the last launch."""
H_LOG = 14
"""Where the log of printed and traced values begins: cycle, pe, kind, value, buffer."""
H_LOGGED = 15
H_LOG_ROOM = 16
H_BUDGET = 17
"""Instructions that a task may run."""
H_WAKE = 18
"""Cycles from an activation to a task's first instruction."""
H_BANKS = 19
H_WSE = 20
"""2 or 3."""
H_WIDTHS = 21
"""Where the widths of operands per vector operation begin (`vector_rules.widths`)."""
H_RATES = 22
"""Where, per vector operation, setup and elements per 64 cycles begin."""
H_UNBLOCKS = 23
"""Cycle of the last unblocking."""
H_OPS_DONE = 24
H_STREAMS = 25
"""Streams of words that the host has still to inject."""
H_TAKEN = 26
"""Cycles that a taken conditional branch takes more than one that isn't."""
H_DUE = 28
"""Where the list of PEs that act in the current cycle begins."""
H_LOST = 27
"""Values that the log had no room for."""
H_PROFILE = 29
"""Whether cycles are counted by cause (`counting`)."""
H_EVENTS = 30
"""Where the log of waits begins: pe, begin, end, cause, instruction, queue (output: + 8)."""
H_EVENT_COUNT = 31
"""Waits so far, those that the log has no room for included."""
H_EVENT_ROOM = 32
H_END = 64

WHEEL = 1024
"""Slots, one per cycle."""

# A class.
K_CODE = 0
"""Its first instruction in C."""
K_FUNCTIONS = 1
"""Where its functions are: entry, registers."""
K_FUNCTION_COUNT = 2
K_TASKS = 3
"""Where its 64 task ids are, TASK words each."""
K_OPERATIONS = 4
K_DSR_CONFIGS = 5
K_PATTERNS = 6
K_FIFOS = 7
K_FIFO_COUNT = 8
K_REGIONS = 9
"""Where the sorted ranges of its variables are: begin, end."""
K_REGION_COUNT = 10
K_OUT_COLORS = 11
"""8: colour of each output queue; -1: the operation's."""
K_CHANNELS = 19
"""Where the input channels are that may start tasks: channel, data task id or -1, the id that
blocks it."""
K_CHANNEL_COUNT = 20
K_EXTENT = 21
"""Bytes of memory."""
K_REGISTERS = 22
K_HANDLERS = 23
"""24: function of each colour's teardown handler; -1: none."""
K_EMPTY = 47
"""24: function of each queue's empty handler (input queues + 16); -1: none."""
K_WATCHES = 71
"""Whether words of the fabric may start a task."""
K_SIZE = 72

TASK = 16
"""Words of a task id: kind (0 none, 1 local, 2 data, 3 control), entry, arguments, then bits and
scalar of each; how often it ran, and for how many cycles, over all PEs of the class."""
T_KIND, T_ENTRY, T_COUNT, T_ARGUMENTS, T_RUNS, T_CYCLES = 0, 1, 2, 3, 12, 13

# An operation template.
O_VECTOR = 0
O_OPERANDS = 1
"""4 pairs: destination and sources: `Operand`, register or number."""
O_SOURCES = 9
O_ASYNC = 10
O_DONE = 11
O_DONE_ID = 12
O_CONTROL = 13
O_CONTROL_ID = 14
O_INDEX = 15
O_MICROTHREAD = 16
O_PRIORITY = 17
O_SIMD = 18
O_RUNS = 20
"""How often it was started, elements and cycles, over all PEs of the class."""
O_ELEMENTS = 21
O_CYCLES = 22
O_WAITED = 23
"""Of its cycles, those in which it waited for words or room; counted while profiling."""
O_SIZE = 24
CONFIG = 8
"""Words of a DSR configuration: async, done, done id, on control, its id, microthread, save,
single step."""
PATTERN = 12
"""Words of a mem4d pattern: dimensions, 4 extents, 4 strides, elements."""
FIFO = 8
"""Words of a FIFO: address, elements, bytes per element, push and pop task, empty, full action."""

# A PE's block: what is looked at in most cycles comes first, in whole lines of cache.
P_CLASS = 0
"""Offset of its class."""
P_AT = 1
"""Cycle at which it is scheduled; -1: it is not."""
P_NEXT = 2
P_PREVIOUS = 3
"""Neighbours in its slot of the wheel, 1 + pe."""
P_STATE = 4
"""What its main thread does."""
P_TIME = 5
"""Cycle that the main thread has come to."""
P_UTS = 6
"""Mask of live operations; bit 8: the synchronous one."""
P_LOOK = 7
"""Whether a task may be ready to start."""
P_DUE = 8
"""9: when to look at each live operation again; -1: when the fabric wakes the PE."""
P_UT_BLOCKED = 17
"""Mask of microthreads that are blocked."""
P_TIMER_TASK = 18
P_TIMER_AT = 19
P_MEMORY = 20
"""Its first word in M."""
P_PC = 21
P_FRAME = 22
"""Offset in S of the running function's registers."""
P_DEPTH = 23
"""Calls within the task."""
P_TASK = 24
"""Id of the running or last task; 64: a command of the host's, 65: a handler."""
P_ACTIVE = 25
P_BLOCKED = 26
P_READY = 27
"""It has unblocked the command stream."""
P_PRNG = 28
P_BUDGET = 29
P_COMPUTE = 30
"""Cycles in which the main thread computed."""
P_TASKS_RUN = 33
P_COMMAND = 34
"""Function that the host launches next; -1: none."""
P_STARTED = 35
"""Cycle of the running task's start."""
P_CARRY = 36
P_HANDLER = 37
"""Mask of colours in teardown whose handler has still to run."""
P_FLUSH = 38
"""Mask of queues whose empty handler has still to run."""
P_LIVE = 40
"""9 operations of U_SIZE words."""

# Main thread's states.
IDLE, RUNNING, WAITING, CURSOR_IN, CURSOR_OUT = 0, 1, 2, 3, 4

# A live operation: what every look at it needs comes first, in whole lines of cache.
U_OP = 0
"""`Vector`."""
U_TOTAL = 1
U_DONE = 2
"""Elements done."""
U_AT = 3
"""Earliest cycle for the next element."""
U_FINISH = 4
"""Cycle of its completion, once its last element is done; -1: not yet."""
U_STEP = 5
"""Cycles per element."""
U_COUNT = 6
"""Operands, the destination included."""
U_RESULT = 7
"""Of a synchronous one with a FIFO: 1 unless it ended early, 2 as long as it runs."""
U_OPERANDS = 8
"""4 operands of X_SIZE words: destination first."""
X_KIND = 0
X_BASE = 1
"""Byte address, queue, FIFO, DSR or the value of a scalar."""
X_STRIDE = 2
"""Bytes."""
X_COLOR = 3
X_OPTIONS = 4
X_EXTENT = 5
X_INDEX = 6
X_PATTERN = 7
"""Of mem4d where its pattern is; of mem1d the stride in elements."""
X_SIZE = 8
U_COMPLETION = 40
U_COMPLETION_ID = 41
U_CONTROL = 42
U_CONTROL_ID = 43
U_PC = 44
"""Instruction that started it."""
U_TASK = 45
"""Id of the task that started it, and from bit 7 on the offset of its template."""
U_SAVE = 46
"""4: DSR whose base moves on, per operand; -1: none."""
U_INDEX = 50
"""`.index`; -1: none."""
U_RESULT_REGISTER = 51
"""Offset in S; -1: none."""
U_CONTROLS = 52
"""Control wavelets that @dfilt has seen."""
U_START = 53
U_SHAPE = 54
"""How it may be done several elements at a time: `live.PLAIN` and so on."""
U_MARK = 55
"""Elements done when one word alone was seen waiting; -1: none was."""
U_SIZE = 56

# Kinds of operands.
X_NONE, X_MEMORY, X_MEMORY_4D, X_CIRCULAR, X_IN, X_OUT, X_FIFO, X_SCALAR, X_POINTER = range(9)

P_DSRS = P_LIVE + 9 * U_SIZE
"""48 of 2: packed DSD and offset of the configuration."""
P_CURSORS = P_DSRS + 96
"""8 of C_SIZE."""
C_OPERAND = 0
C_POSITION = X_SIZE
C_SIZE = X_SIZE + 2
P_CALLS = P_CURSORS + 8 * C_SIZE
"""Return addresses and frames of CALLS calls."""
CALLS = 64
P_ARGUMENTS = P_CALLS + 2 * CALLS
"""16 of the command that the host launches."""
N_SINCE, N_BUSY, N_CAUSE, N_PC, N_QUEUE, N_COMPUTE, N_DATA, N_ROOM = range(8)
"""Counted up to; advances until; what it then waits for (0 nothing, 1 words, 2 room), by which
instruction at which queue; cycles so far."""
N_SIZE = 8
"""Words of a profile's counters, the last of a PE's block."""
EVENT = 6
"""Words of a wait in the log."""
P_FIFOS = P_ARGUMENTS + 16
"""Per FIFO: head, length, reads and writes that are left (-1: any number)."""
FIFO_STATE = 4
Q_HEAD, Q_LENGTH, Q_READS, Q_WRITES = 0, 1, 2, 3
COMMAND, HANDLER = 64, 65
