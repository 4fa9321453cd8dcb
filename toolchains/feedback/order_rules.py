"""What it means when an emulated GPU finds something wrong. From the particular to the general."""

from __future__ import annotations

from kernels.records import FailureKind

from .names import nearest_module, nearest_name
from .rules import Facts, Rule

_RAISED = frozenset({FailureKind.EXCEPTION})


def _of_cupy(facts: Facts) -> Facts | None:
    """The nearest name, which is NumPy's too."""
    found = nearest_name({"owner": "numpy", "name": facts["name"]})
    return {"nearest": str(found["nearest"]).replace("np.", "cupy.")} if found else None


def _unlike_all(facts: Facts) -> Facts | None:
    """A module whose name resembles none that a child has."""
    return None if nearest_module(facts) else {}


def _inside_counts(facts: Facts) -> Facts | None:
    """Not of a histogram whose codes go beyond its bins: there is a rule for that."""
    return None if facts.get("beyond_bins") else {}


_CODE: tuple[Rule, ...] = (
    Rule(
        "fixed-width",
        _RAISED,
        r"error: (unknown type name|use of undeclared identifier) '(?P<name>u?int(8|16|32|64)_t)'",
        "{name} is declared in <cstdint>.",
        "Put #include <cstdint> at the top of the device code.",
    ),
    Rule(
        "header-not-emulated",
        _RAISED,
        r"CompileException: .*error: '(?P<name>[^']+)' file not found",
        "The emulator has no <{name}>, nor has the submission; on a real GPU it may work.",
        "Do without it. There are <cooperative_groups.h> with its reduce.h and scan.h, "
        "<cuda_fp16.h>, <cuda/atomic>, <cuda/std/…>, and of CUB or hipCUB scan, reduce, load and "
        "store of blocks, scan and reduce of warps; operators: a struct of your own.",
    ),
    Rule(
        "inline-assembly",
        _RAISED,
        r"error: inline PTX isn't known here: (?P<text>[^\n]{1,80})",
        "The emulator does not know this inline assembly; on a real GPU it may work: {text}",
        "Use built-in functions: __clz, __brev, __ffs, __byte_perm, __funnelshift_l, __ldcs, "
        "shuffles and votes; the lane is threadIdx.x % warpSize.",
    ),
    Rule(
        "builtin-not-emulated",
        _RAISED,
        r"undeclared identifier '(?P<name>__(builtin_amdgcn|ockl|ocml)_\w+)'",
        "The emulator does not have {name}; on a real GPU it may work.",
        "Use HIP's own functions: __lane_id(), __mbcnt_lo and __mbcnt_hi, __shfl_up, __ballot.",
    ),
    Rule(
        "device-code",
        _RAISED,
        r"CompileException: (?P<file>[\w.+-]+)\((?P<number>\d+)\): error:",
        "The emulator's compiler (clang) refuses line {number} of {file}; the line of Python that "
        "is shown only uses it.",
        "Mend that line. If the vendor's compiler takes it, write it in plainer C++.",
    ),
)

_LAUNCHES: tuple[Rule, ...] = (
    Rule(
        "argument-count",
        _RAISED,
        r"has \d+ parameters \((?P<names>[^)]*)\), (?P<got>\d+) arguments were",
        "The launch gives {got} arguments to a kernel that has other parameters: {names}.",
        "Give kernel(grid, block, (…)) one argument for each, in that order.",
    ),
    Rule(
        "numpy-argument",
        _RAISED,
        r"pass a numpy\.ndarray of shape .* as a kernel parameter",
        "A kernel was given an array of the host.",
        "Make it with cupy (cupy.empty, cupy.asarray), and don't .get() it before the launch.",
    ),
    Rule(
        "launch-limits",
        _RAISED,
        r"CUDA_ERROR_INVALID_VALUE: invalid argument",
        "A launch asks for what the GPU does not have, or has none of by default.",
        "Stay within the numbers told: smaller blocks, smaller tiles. More dynamic shared memory: "
        "kernel.max_dynamic_shared_size_bytes = n before the launch, up to the most of a block.",
    ),
    Rule(
        "kernel-name",
        _RAISED,
        r"CUDA_ERROR_NOT_FOUND: named symbol not found",
        "The module has no kernel of that name.",
        'Ask for the name behind __global__ void, and declare it extern "C"; templates: pass '
        "name_expressions=(…) to RawModule and ask for the same text.",
    ),
    Rule(
        "host-arrays",
        _RAISED,
        r"Implicit conversion to a NumPy array is not allowed",
        "NumPy's functions and szstream's take arrays of the host, and this is one of cupy's.",
        "Bring it over with .get(), a result back with cupy.asarray: szstream.header(…, "
        "body=body.get()), szstream.parse(stream.get(), …). body may also be its check, an int "
        "computed on the device.",
    ),
    Rule(
        "cupy-name",
        _RAISED,
        r"module 'cupy' has no attribute '(?P<name>\w+)'",
        "cupy has no {name}.",
        "The nearest that NumPy has is {nearest}.",
        look_up=_of_cupy,
    ),
    Rule(
        "module-not-here",
        _RAISED,
        r"No module named '(?P<name>\w+)",
        "There is no {name} here: a child has cupy, numpy, the standard library, szstream and your "
        "own files.",
        "Drop the import, or send the module as one of your files.",
        look_up=_unlike_all,
    ),
)

_GONE: tuple[Rule, ...] = (
    Rule(
        "host-loop",
        frozenset({FailureKind.TIMEOUT}),
        r"loop of plain Python",
        "A loop of kernel.py itself takes a step per element, or never ends.",
        "Put the work into a kernel, or into cupy's functions of whole arrays; make sure that the "
        "loop advances on every path.",
    ),
    Rule(
        "device-crash",
        frozenset({FailureKind.CRASH}),
        r"SIGSEGV|SIGBUS|SIGABRT|after (its|it had) repl",
        "A thread read or wrote outside an array. Every access is checked when a submission is "
        "built, but only on a small field.",
        "Compare the index with the size before the access, in the last block too; check the size "
        "of what cupy.empty gave for data that does not compress, and offsets for sizes 0 and 1.",
        look_up=_inside_counts,
    ),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "thread-order",
        frozenset({FailureKind.ORDER}),
        r"depends on the order in which threads run",
        "Threads of a block ran first to last and then last to first, and the results differ. On a "
        "GPU any order may come, so the kernel is wrong there too, now and then.",
        "Put __syncthreads() between writing shared memory and reading what other threads wrote, "
        "and before it is written again; let no two threads write one place; write all of what "
        "cupy.empty gave, or take cupy.zeros; where atomics hand out places, scan instead.",
    ),
    Rule(
        "not-emulated",
        _RAISED,
        r"not emulated: (?P<name>[\w.:<> ]+)",
        "The emulator does not have {name}; on a real GPU it may work.",
        "Use something simpler in its place: plain CUDA C++ in a RawModule or RawKernel always "
        "works here; arrays, ElementwiseKernel and ReductionKernel do too.",
    ),
    Rule(
        "divergent-barrier",
        _RAISED,
        r"threads wait at different barriers|waits for threads that never come|"
        r"waits with mask",
        "Some threads of the block (or of the warp) wait where others never arrive.",
        "Move barriers and warp operations out of branches and early returns: let all threads "
        "arrive, and guard the loads and stores instead.",
    ),
    Rule(
        "warp-mask-lanes",
        _RAISED,
        r"mask 0x[0-9a-f]+ lacks the calling lane",
        "A warp operation was called by a lane that its mask does not name, or with another mask "
        "than the other lanes of it.",
        "Use the full mask where the whole warp arrives, or compute one mask with __ballot_sync "
        "before the branch and use it inside.",
    ),
    Rule(
        "outside-every-array",
        _RAISED,
        r"outside every array|which is misaligned",
        "A thread touched memory that belongs to no array, or at an address that is no multiple of "
        "the size of what it reads.",
        "Compare the index with the size before the access, also in the last block; vector loads "
        "(int4, float4) need addresses that are multiples of 16.",
    ),
    Rule(
        "launch-waits",
        _RAISED | {FailureKind.TIMEOUT},
        r"the launch took too long; a thread still waits here",
        "A thread loops without end, or waits at a barrier or for another thread in vain.",
        "Make sure that the loop advances on every path. Wait only for earlier blocks, which have "
        "begun; make what is waited for visible with __threadfence() and read it as volatile.",
    ),
    Rule(
        "argument-size",
        _RAISED,
        r"argument \d+ \((?P<which>\w+)\) is .*(but the parameter is|does not fit)",
        "An argument has another size than the kernel's parameter {which}.",
        "Wrap scalars: numpy.int32(n), numpy.uint32(n), numpy.float32(x). A Python int is 8 bytes, "
        "a float is a double.",
    ),
    *_CODE,
    *_LAUNCHES,
    *_GONE,
)
