"""What it means when an emulated GPU finds something wrong. From the particular to the general."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_RAISED = frozenset({FailureKind.EXCEPTION})

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
        _RAISED,
        r"the launch took too long; a thread still waits here",
        "A thread waits in a loop or at a barrier for something that does not come.",
        "Wait only for earlier blocks, which have begun; make what is waited for visible with "
        "__threadfence() and read it as volatile.",
    ),
    Rule(
        "argument-size",
        _RAISED,
        r"argument \d+ \((?P<which>\w+)\) is .*(but the parameter is|does not fit)",
        "An argument has another size than the kernel's parameter {which}.",
        "Wrap scalars: numpy.int32(n), numpy.uint32(n), numpy.float32(x). A Python int is 8 bytes, "
        "a float is a double.",
    ),
)
