"""What failures of numba kernels mean. From the particular to the general within a kind."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_COMPILE = frozenset({FailureKind.COMPILE})
_RAISED = frozenset({FailureKind.EXCEPTION})
_CONTRACT = frozenset({FailureKind.CONTRACT})

RULES: tuple[Rule, ...] = (
    Rule(
        "syntax",
        frozenset({FailureKind.SYNTAX}),
        "",
        "The source does not parse as Python.",
        "Fix the line shown; nothing after it was looked at.",
    ),
    Rule(
        "numba-untyped-name",
        _COMPILE,
        r"Untyped global name|NameError: (global )?name",
        "A compiled function uses a global that numba can't type: a module, a list, a class, or a "
        "name that does not exist.",
        "Pass the value as an argument, or make it a constant number, tuple or array.",
    ),
    Rule(
        "numba-unify",
        _COMPILE,
        r"Cannot unify",
        "A variable has different types on different paths, for example int64 and float64.",
        "Give it one type from the start: np.float32(0), np.int64(0), or a cast where it is set.",
    ),
    Rule(
        "numba-no-match",
        _COMPILE,
        r"No implementation of function|Invalid use of|Unknown attribute|not supported|Unsupported",
        "numba has no version of this function or method for these argument types.",
        "Write the loop out, use np functions that numba lists, or keep this step outside @njit.",
    ),
    Rule(
        "numba-typing",
        _COMPILE,
        "",
        "numba could not infer the types of a compiled function.",
        "Look at the line shown; reduce it to typed scalars, arrays and loops.",
    ),
    Rule(
        "missing-function",
        _CONTRACT,
        r"defines no function",
        "The task calls functions by name, and kernel.py has none of that name.",
        "Define compress and decompress for codecs, run for stages, at the top level of kernel.py.",
    ),
    Rule(
        "stream-type",
        _CONTRACT,
        # "decompress returned" has no word boundary here; a digit begins a count or a size.
        r"\bcompress returned (?!\d)",
        "A stream is a 1-D array of bytes; its length is the size that counts.",
        "Return np.uint8, for example array.view(np.uint8), or np.frombuffer(data, np.uint8).",
    ),
    Rule(
        "result-too-large",
        _CONTRACT,
        r"at most \d+ fit",
        "The result is larger than its place (describe_arch: output_room): streams may grow, but "
        "not to more than about twice their input.",
        "Return only the part that was written, out[:size]; store what does not compress raw.",
    ),
    Rule(
        "decoded-form",
        _CONTRACT,
        r"decompress returned \w+ of shape",
        "What was decoded has another shape or dtype than the original.",
        "Return an array of exactly the `shape` and `dtype` that decompress was given: for example "
        "out.reshape(shape), and out of np.empty(shape, dtype); shape may hold 0 or be ().",
    ),
    Rule(
        "result-form",
        _CONTRACT,
        r"is needed|returned|must return",
        "What the kernel returned has another type, shape or dtype than the task's page says.",
        "Reshape to the shape given and cast to the dtype given before returning.",
    ),
    Rule(
        "missing-module",
        _RAISED,
        r"ModuleNotFoundError|ImportError",
        "The child has numpy, numba, the standard library and szstream, and your own files.",
        "Drop the import, or send the module as one of your files.",
    ),
    Rule(
        "no-files",
        _RAISED,
        r"FileNotFoundError|PermissionError|OSError",
        "A kernel sees no files, no network and no other process: only its arguments.",
        "Work on the arguments alone; keep tables as arrays in the source.",
    ),
    Rule(
        "exit",
        _RAISED,
        r"sys\.exit",
        "Ending the process is not a result.",
        "Return the array, or raise NotImplementedError for what is not supported.",
    ),
    Rule(
        "index",
        _RAISED,
        r"IndexError|ValueError: could not broadcast|ValueError: cannot reshape",
        "Sizes do not fit: often an array whose length is no multiple of the block, or is empty.",
        "Handle the last, shorter block, and lengths 0 and 1; data may have 0 to 4 dimensions.",
    ),
    Rule(
        "overflow",
        _RAISED,
        r"OverflowError|cannot convert float (NaN|infinity)",
        "A value that is not finite, or too large for an integer, reached the quantiser.",
        "Test isfinite and the range first; store such values as they are.",
    ),
    Rule(
        "raised",
        _RAISED,
        "",
        "The kernel raised an exception.",
        "See the line, if one is shown; try the same input in a test of your own.",
    ),
    Rule(
        "memory",
        frozenset({FailureKind.MEMORY}),
        "",
        "The kernel asked for more memory than a child may have (describe_arch: limits).",
        "Allocate in proportion to the input; check sizes that were read from a stream first.",
    ),
    Rule(
        "too-slow",
        frozenset({FailureKind.TIMEOUT}),
        r"repetitions fitted into",
        "The kernel works, but is too slow to be timed as often as asked.",
        "Compile the loop over elements (@njit), ask for fewer repeats, or take a smaller field.",
    ),
    Rule(
        "timeout",
        frozenset({FailureKind.TIMEOUT}),
        "",
        "The kernel did not finish in time: an endless loop, or a loop that runs as plain Python.",
        "Put loops over elements in @njit functions; make sure every loop advances, also on sizes "
        "0 and 1.",
    ),
    Rule(
        "busy",
        frozenset({FailureKind.BUSY}),
        "",
        "Other work on the machine kept interrupting; nothing is wrong with the kernel.",
        "Call run_compress again when less is going on, with more repeats if it stays busy.",
    ),
    Rule(
        "crash",
        frozenset({FailureKind.CRASH}),
        "",
        "The process died: usually an index out of bounds in compiled code, which numba does not "
        "check, or an explicit exit.",
        "Run the function with @njit(boundscheck=True) once; check sizes before writing.",
    ),
    Rule(
        "refused",
        frozenset({FailureKind.UNSUPPORTED}),
        "",
        "The kernel raised NotImplementedError; that is allowed outside float32, 1-D to 3-D.",
        "Support the case, or fall back to storing the bytes as they are.",
    ),
    Rule(
        "integrity",
        frozenset({FailureKind.INTEGRITY}),
        "",
        "The result broke a check that an honest kernel passes; it is kept and not ranked.",
        "Do all work inside the call that is timed; start no threads or processes that outlive it.",
    ),
)
