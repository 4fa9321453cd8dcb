"""What it means that a kernel raised, died, or was too slow. From the particular to the general."""

from __future__ import annotations

from kernels.records import FailureKind

from . import names
from .rules import LookUp, Rule


def _raised(
    name: str,
    pattern: str,
    explanation: str,
    suggestion: str,
    *,
    line: str = "",
    look_up: LookUp | None = None,
) -> Rule:
    kinds = frozenset({FailureKind.EXCEPTION})
    return Rule(name, kinds, pattern, explanation, suggestion, line, None, look_up)


def _gone(
    name: str, kind: FailureKind, pattern: str, texts: tuple[str, str], line: str = ""
) -> Rule:
    return Rule(name, frozenset({kind}), pattern, *texts, line)


_TASKS: tuple[Rule, ...] = (
    Rule(
        "histogram-outside",
        frozenset({FailureKind.CRASH, FailureKind.EXCEPTION}),
        r"SIGABRT|SIGSEGV|SIGBUS|after (its|it had) repl|IndexError",
        "There are codes >= nbins, in this case or in one before it: a count was written outside "
        "`counts`, where compiled code checks nothing.",
        "codes >= nbins must be ignored: if c < nbins: counts[c] += 1.",
        "",
        lambda p: p.beyond_bins,
        tasks=("histogram",),
    ),
)

_IMPORTS: tuple[Rule, ...] = (
    _raised(
        "relative-import",
        r"attempted relative import",
        "kernel.py is imported as a module of its own, not as part of a package.",
        "import helper, without the dot; helper.py is one of the files you send.",
    ),
    _raised(
        "misspelt-import",
        r"cannot import name '(?P<name>\w+)' from '(?P<owner>\w+)'",
        "{owner} has no {name}.",
        "The nearest that exists is {nearest}.",
        look_up=names.nearest_name,
    ),
    _raised(
        "misspelt-module",
        r"No module named '(?P<name>[\w]+)'",
        "A child has no module {name}.",
        "The nearest that it has is {nearest}; your own modules must be among the files you send.",
        look_up=names.nearest_module,
    ),
    _raised(
        "missing-module",
        r"ModuleNotFoundError|ImportError",
        "The child has numpy, numba, the standard library and szstream, and your own files.",
        "Drop the import, or send the module as one of your files.",
    ),
)

_NAMES: tuple[Rule, ...] = (
    _raised(
        "numpy-removed",
        r"AttributeError: `np\.(?P<name>\w+)` was removed.*?Use `(?P<nearest>[\w.]+)`",
        "np.{name} went with NumPy 2.",
        "Write {nearest}.",
    ),
    _raised(
        "misspelt-name",
        r"module '(?P<owner>numpy|numba|szstream|math)' has no attribute '(?P<name>\w+)'"
        r"|'(?P<array>numpy\.ndarray)' object has no attribute '(?P<of_array>\w+)'",
        "There is no such name: {wrong}.",
        "The nearest that exists is {nearest}.",
        look_up=names.nearest_of_either,
    ),
    _raised(
        "state-lost",
        r"\bdecompress of .*(KeyError|NoneType|NameError|has no attribute)",
        "decompress looks for something that only compress has set: they run in two processes that "
        "share nothing but the stream.",
        "Put into the stream whatever decompress needs (step, sizes, tables), and read it from "
        "there.",
    ),
    _raised(
        "name-without-np",
        r"name '(?P<name>\w+)' is not defined",
        "Nothing is called {name} here.",
        "Write {instead}.",
        look_up=names.numpy_name,
    ),
    _raised(
        "name-unknown",
        r"NameError|UnboundLocalError",
        "A variable is used that was not set: misspelt, or set only on another path.",
        "Set it before the if or the loop.",
    ),
    _raised(
        "none-used",
        r"'?NoneType'?",
        "Something is None that should be an array or a number: a function without a return, or a "
        "variable not yet set.",
        "Return a value on every path of the function that made it.",
    ),
)

_SIZES: tuple[Rule, ...] = (
    _raised(
        "float-as-integer",
        r"only integers, slices|slice indices must|'float' object cannot be interpreted"
        r"|sequence of integers or a sin",
        "A float stands where a count or an index is needed: / gives a float even of integers.",
        "Use //, rounded up where blocks are counted: (n + 31) // 32.",
    ),
    _raised(
        "indices-beyond",
        r"too many indices",
        "An array is indexed with more indices than it has dimensions: data has 0 to 4.",
        "Work on flat = data.reshape(-1), whatever the shape.",
    ),
    _raised(
        "empty-array",
        r"zero-size array|empty sequence|arg is an empty|of an empty",
        "The array is empty: fields of 0 elements are part of the suite.",
        "Return early if data.size == 0: compress gives a header alone, decompress np.empty(shape, "
        "dtype).",
    ),
    _raised(
        "stream-short",
        r"buffer size must be a multiple|buffer is smaller|offset must be|requires a buffer",
        "What is read is not as long as it should be, or does not begin where it should.",
        "Compare, piece by piece, what compress writes with what decompress reads; slices count in "
        "bytes: stream[a : a + 4 * n].view(np.uint32).",
    ),
    _raised(
        "view-contiguous",
        r"last axis must be contiguous|not C-contiguous",
        "Bytes can only be reinterpreted where they follow each other: not in a column, nor in a "
        "slice with a step.",
        "np.ascontiguousarray(part).view(np.uint8); x[::k] and x[:, 0] are not contiguous.",
    ),
    _raised(
        "view-size",
        r"When changing to a larger dtype|0d array is only supported",
        "The bytes of this array are not a whole number of the new type, or it has 0 dimensions.",
        "Make it flat first, x.reshape(-1).view(...), and pad sizes to a multiple of the item.",
    ),
    _raised(
        "reshape-size",
        r"cannot reshape array of size (?P<size>\d+)|total size of new array must be unchanged",
        "The array has another number of elements than the shape: often the padding of the last "
        "block is still on it.",
        "Cut it before reshaping: out[:n].reshape(shape), n the product of shape.",
    ),
    _raised(
        "sizes-differ",
        r"broadcast|cannot assign slice|same number of dimensions|must match exactly",
        "Two arrays that should be equally long are not: often the last, shorter block.",
        "Use its own length there: m = min(32, n - start), then out[start:start + m] = block[:m].",
    ),
    _raised(
        "index",
        r"IndexError",
        "An index is outside the array: often at the last, shorter block, or in an array of one or "
        "no element.",
        "Loop to min(start + 32, n); check sizes 0, 1, 31 and 33 by hand.",
    ),
    _raised(
        "negative-size",
        r"negative dimensions",
        "A length came out negative, often of an unsigned difference or a wrong header field.",
        "Print the numbers it is made of; take max(0, ...) only if 0 is meant.",
    ),
)

_NUMBERS: tuple[Rule, ...] = (
    _raised(
        "bound-zero",
        r"abs_bound 0\.0: .*(ZeroDivision|cannot convert float|OverflowError|FloatingPoint|math d)",
        "abs_bound is 0 here, which asks for a lossless stream, and something is divided by it, or "
        "by a step made from it.",
        "Branch first: if abs_bound == 0, store the bytes as they are.",
    ),
    _raised(
        "zero-division",
        r"ZeroDivisionError|FloatingPointError",
        "Something is divided by 0: a step or a range of 0 (constant data), or a count of blocks.",
        "Treat constant and empty data apart; numba raises here where NumPy gives inf.",
    ),
    _raised(
        "not-finite",
        r"cannot convert float (NaN|infinity)",
        "A value that is not finite reached a conversion to an integer.",
        "Test np.isfinite first; store such values, or their block, as they are.",
    ),
    _raised(
        "integer-bounds",
        r"out of bounds for u?int|OverflowError|argument out of range|format requires",
        "A number does not fit the integer type that it is put into.",
        "Check the range before the cast and store what does not fit raw; for bits modulo 2**k, "
        "mask first: v & 0xFF, or go through np.int64 and astype.",
    ),
    _raised(
        "truth-of-array",
        r"truth value of an array",
        "`if` asks one question, and this is an array of answers.",
        "Write np.any(...) or np.all(...), or a loop over the elements.",
    ),
    _raised(
        "shift-types",
        r"ufunc '(\w+_shift|bitwise_\w+|invert)' not supported",
        "Shifts and masks need integers of one kind: here are floats, or uint64 beside int64.",
        "x.view(np.uint32) for the bits of floats; np.uint64(k), not k, beside uint64.",
    ),
    _raised(
        "casting",
        r"Cannot cast|casting rule",
        "The result has a type that the target array does not take without being told.",
        "out[:] = (a + b).astype(out.dtype), or begin with the wider type.",
    ),
    _raised(
        "operand-types",
        r"did not contain a loop|unsupported operand|bytes-like object is required",
        "The two sides are not of kinds that go together: bytes and arrays, or lists and arrays.",
        "Turn bytes into np.frombuffer(b, np.uint8) and join with np.concatenate.",
    ),
    _raised(
        "view-read-only",
        r"read-only",
        "np.frombuffer gives a read-only view of its bytes.",
        "Copy it before writing: np.frombuffer(b, np.uint8).copy().",
    ),
)

_CALLS: tuple[Rule, ...] = (
    _raised(
        "entry-signature",
        r"\b(?P<name>compress|decompress|run)\(\) (takes|missing|got)",
        "{name} does not take the arguments that the task calls it with.",
        "compress(data, abs_bound), decompress(stream, shape, dtype), run(...) as on the task's "
        "page: positional, and no others.",
    ),
    _raised(
        "header-call",
        r"\b(header|parse)\(\) (takes|missing|got)",
        "szstream's functions take some arguments by name alone.",
        "szstream.header(magic, shape, dtype, step=…, fill_bits=None, body=…); "
        "szstream.parse(stream, magic, shape, dtype).",
    ),
    _raised(
        "call-arguments",
        r"(too many|not enough) arguments|positional argument|unexpected keyword|Too few arguments",
        "A function is called with other arguments than it has.",
        "Compare the call with the definition.",
    ),
    _raised(
        "mixed-list",
        r"heterogeneous list",
        "A list with elements of different types can't be passed to compiled code.",
        "Pass separate arguments, or an array.",
    ),
    _raised(
        "empty-list-argument",
        r"fingerprint of empty list",
        "An empty list has no type, so it can't be passed to compiled code.",
        "Pass an empty array, np.empty(0, dtype).",
    ),
    _raised(
        "ragged",
        r"incompatible sequence shape|inhomogeneous",
        "Rows of different length don't make an array.",
        "Use one flat array and an array of offsets.",
    ),
    _raised(
        "endless-recursion",
        r"RecursionError",
        "A function calls itself without end.",
        "Write a loop.",
    ),
)

_OUTSIDE: tuple[Rule, ...] = (
    _raised(
        "closed-files",
        r"Errno 13|Permission denied",
        "A child opens Python's library and the files of its own folder only.",
        "Work on the arguments alone; only with bubblewrap can a file be made, in "
        "tempfile.gettempdir().",
    ),
    _raised(
        "no-shared-memory",
        r"PermissionError|FileNotFoundError|OSError",
        "Processes and shared memory are refused in a child.",
        "Use compiled code; threads count only with threads=N in the request (parallel=True, "
        "prange).",
        line=r"Pool|Process|multiprocessing|shared_memory",
    ),
    _raised(
        "no-processes",
        r"PermissionError|Operation not permitted",
        "Processes, sockets, shared memory, locks, links, modes and priorities are refused in a "
        "child.",
        "Use compiled code; threads count only with threads=N in the request (parallel=True, "
        "prange).",
    ),
    _raised(
        "no-files",
        r"FileNotFoundError|OSError|EOFError",
        "A kernel sees no files, no network, no input: only its arguments.",
        "Work on the arguments alone; keep tables as arrays in the source.",
    ),
    _raised(
        "exit",
        r"sys\.exit",
        "Ending the process is not a result.",
        "Return the array, or raise NotImplementedError for what is not supported.",
    ),
)

_RAISED: tuple[Rule, ...] = (
    _raised(
        "own-check",
        "",
        "A check of the kernel itself, or of szstream, refused what it was given.",
        "If the input is one that the task asks for, handle it; else find out why the stream that "
        "decompress gets is not the one that compress means to write.",
        line=r"^\s*(raise|assert)\b|szstream\.",
    ),
    _raised(
        "stream-corrupt",
        r"while decompressing|incorrect (header|data) check",
        "The compressed part of the stream does not begin or end where decompress thinks.",
        "Store its length, and cut exactly that: stream[a : a + length].tobytes().",
    ),
    _raised(
        "raised",
        "",
        "The kernel raised an exception.",
        "See the line, if one is shown; try the same input in a test of your own.",
    ),
)

_GONE: tuple[Rule, ...] = (
    _gone(
        "memory",
        FailureKind.MEMORY,
        "",
        (
            "The kernel asked for more memory than a child may have (describe_arch: limits).",
            "Allocate in proportion to the input; check sizes that were read from a stream first.",
        ),
    ),
    _gone(
        "too-slow",
        FailureKind.TIMEOUT,
        r"repetitions fitted into|cases before this one",
        (
            "The kernel works, but is too slow to be tried as often as asked.",
            "Compile the loop over elements (@njit), ask for fewer repeats, or take a smaller "
            "field.",
        ),
    ),
    _gone(
        "waits",
        FailureKind.TIMEOUT,
        "",
        (
            "The kernel waits for a lock, a thread or a queue that never comes.",
            "Do without: compute in the call itself.",
        ),
        r"\.(acquire|join|wait|result|get|recv)\(",
    ),
    _gone(
        "python-loop",
        FailureKind.TIMEOUT,
        r"loop of plain Python",
        (
            "A loop over elements runs as plain Python, which takes a second for some ten million "
            "steps; or it never ends.",
            "Put the loop into an @njit function; make sure that it advances on every path.",
        ),
    ),
    _gone(
        "timeout",
        FailureKind.TIMEOUT,
        "",
        (
            "The kernel did not finish in time: an endless loop in compiled code, or far too much "
            "work, at the line shown.",
            "Make sure every while loop advances, also on sizes 0 and 1, and on unsigned counters "
            "(which never go below 0).",
        ),
    ),
    _gone(
        "busy",
        FailureKind.BUSY,
        "",
        (
            "Other work on the machine kept interrupting; nothing is wrong with the kernel.",
            "Call run_compress again when less is going on, with more repeats if it stays busy.",
        ),
    ),
    _gone(
        "heap",
        FailureKind.CRASH,
        r"SIGABRT|after (its|it had) repl",
        (
            "The memory around an array was overwritten earlier in compiled code, which does not "
            "check indices; the damage was found later.",
            "Call the functions once with @njit(boundscheck=True); check the size of the output "
            "buffer for data that does not compress.",
        ),
    ),
    _gone(
        "segfault",
        FailureKind.CRASH,
        r"SIGSEGV|SIGBUS",
        (
            "Compiled code went outside an array (numba does not check indices), or called itself "
            "too deeply.",
            "Call it once with @njit(boundscheck=True), which raises IndexError instead; check the "
            "last block, and the size of the output buffer for data that does not compress.",
        ),
    ),
    _gone(
        "killed",
        FailureKind.CRASH,
        r"SIGKILL",
        (
            "The process was killed: it killed itself, or took all the memory of the machine.",
            "Allocate in proportion to the input.",
        ),
    ),
    _gone(
        "crash",
        FailureKind.CRASH,
        "",
        (
            "The process ended without a reply: os._exit, or a crash in a library.",
            "Return the result; raise NotImplementedError for what is not supported.",
        ),
    ),
    _gone(
        "refused-core",
        FailureKind.UNSUPPORTED,
        r"of float32 of shape \(\d+,( \d+(, \d+)?)?\)",
        (
            "The kernel raised NotImplementedError on float32 data of 1 to 3 dimensions, which "
            "every codec must take.",
            "Work on data.reshape(-1), and fall back to storing the bytes as they are.",
        ),
    ),
    _gone(
        "refused",
        FailureKind.UNSUPPORTED,
        "",
        (
            "The kernel raised NotImplementedError; that is allowed outside float32, 1-D to 3-D.",
            "Support the case, or fall back to storing the bytes as they are.",
        ),
    ),
    _gone(
        "integrity",
        FailureKind.INTEGRITY,
        "",
        (
            "The result broke a check that an honest kernel passes; it is kept and not ranked.",
            "Do all work inside the call that is timed; start no threads or processes that outlive "
            "it.",
        ),
    ),
)

RULES: tuple[Rule, ...] = (
    *_TASKS,
    *_IMPORTS,
    *_NAMES,
    *_NUMBERS[:1],
    *_SIZES,
    *_NUMBERS[1:],
    *_CALLS,
    *_OUTSIDE,
    *_RAISED,
    *_GONE,
)
