"""What a tripwire refused, why, and the honest way to the same end."""

from __future__ import annotations

import re

from kernels.records import FailureKind
from toolchains.tripwire_table import Topic

from .rules import Rule

_TRIPWIRE = frozenset({FailureKind.TRIPWIRE})


def _refused(topic: Topic, explanation: str, suggestion: str) -> Rule:
    name = f"tripwire-{topic.name.lower()}"
    return Rule(name, _TRIPWIRE, re.escape(f"business with {topic}"), explanation, suggestion)


RULES: tuple[Rule, ...] = (
    _refused(
        Topic.NETWORK,
        "A child has no network, and what a kernel needs comes in its arguments.",
        "Remove it. Read everything from `data`, and let decompress read everything from `stream`.",
    ),
    _refused(
        Topic.PROCESSES,
        "A kernel runs in one process per function; starting, ending or signalling processes is "
        "refused, because their time would be nobody's.",
        "For more cores use threads (numba's prange, or threading) and ask for them with the "
        "argument `threads`; to give up on an input, raise an exception.",
    ),
    _refused(
        Topic.LOCKS,
        "Locks on files could carry information past the bytes of the stream that are counted.",
        "Put into the stream what decompress must know; for threads use threading.Lock.",
    ),
    _refused(
        Topic.SIGNALS,
        "Deadlines are the server's, and a kernel that handles or sends signals is ended.",
        "Remove it; a call that takes too long is reported with the line where it was.",
    ),
    _refused(
        Topic.SCHEDULING,
        "The server gives a timed kernel cores of its own; other placements are refused.",
        "Remove it, and ask for threads with the argument `threads`.",
    ),
    _refused(
        Topic.HARNESS,
        "Modules of the server are not there, and those of the program inside the child are not a "
        "kernel's to use: outputs count only as what a function returns.",
        "Use numpy, numba, the standard library and `szstream`; a file of your own may have any "
        "name, and is imported by it.",
    ),
    _refused(
        Topic.FRAMES,
        "Looking at frames or objects of the code around a kernel gains nothing: expected outputs "
        "are in another process.",
        "Remove it; pass what a function needs as an argument. For your own timing use print and "
        "time.perf_counter, or call `profile`.",
    ),
    _refused(
        Topic.LIBRARIES,
        "Calling into libraries by ctypes can change the process that the kernel runs in.",
        "Write it in numba; machine instructions are at hand by numba.extending.intrinsic, and "
        "zlib, bz2 and lzma are in the standard library.",
    ),
    _refused(
        Topic.PATCHING,
        "Modules that other code relies on, clocks among them, are not a kernel's to change; the "
        "time that counts is the server's.",
        "Keep state in names of your own; np.seterr, warnings.filterwarnings and numba.config are "
        "meant to be set.",
    ),
    _refused(
        Topic.FILES,
        "A child has no files but its own folder, and no /proc, /sys or /dev/shm.",
        "Use what the arguments hold; what hardware this is says describe_arch.",
    ),
    _refused(
        Topic.EMBEDDED,
        "Data in the source that a decoder knows would not be counted in the stream, so a long "
        "literal is refused.",
        "Compute tables when the module is imported, and put into the stream what depends on the "
        "field.",
    ),
    _refused(
        Topic.DECODED,
        "Code that is unpacked and executed can't be read beforehand.",
        "Send it as source, in files of its own: a submission may have 32 files.",
    ),
)
