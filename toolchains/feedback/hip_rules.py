"""What HIP's compiler means, and what is different on AMD. From the particular to the general."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.records import Diagnostic, Failure, FailureKind, Guidance, Status
from toolchains.gpu_compile.hipify_names import nearest_names
from toolchains.gpu_compile.hipify_table import RENAMED, WITHOUT

from .rules import Facts, Rule, compile_rule, first_guidance

_HEADERS = {
    "half": "hip/hip_fp16.h",
    "half2": "hip/hip_fp16.h",
    "bfloat16": "hip/hip_bf16.h",
    "cooperative_groups": "hip/hip_cooperative_groups.h",
    "cg": "hip/hip_cooperative_groups.h",
    "hipcub": "hipcub/hipcub.hpp",
    "hiprand": "hiprand/hiprand_kernel.h",
}


def _renamed(facts: Facts) -> Facts | None:
    """HIP's name for a name of CUDA's."""
    after = RENAMED.get(str(facts["name"]))
    return {"instead": after} if after else None


def _without(facts: Facts) -> Facts | None:
    """What to write for a name of CUDA's that HIP has not."""
    instead = WITHOUT.get(str(facts["name"]))
    return {"instead": instead} if instead else None


def _nearest(facts: Facts) -> Facts | None:
    """The nearest names of HIP."""
    near = nearest_names(str(facts["name"]))
    return {"nearest": " or ".join(near)} if near else None


def _header(facts: Facts) -> Facts | None:
    """The header that has a name."""
    name = str(facts["name"])
    key = name.removeprefix("__").removeprefix("hip_")
    header = _HEADERS.get(key)
    return {"header": header} if header else None


_UNKNOWN = r"(use of undeclared identifier|unknown type name|no template named) '(?P<name>\w+)'"

_NAMES: tuple[Rule, ...] = (
    compile_rule(
        "hip-qualifiers",
        r"unknown type name '__(?P<name>global|device|shared|constant|host)__'",
        "`__{name}__` is a macro of <hip/hip_runtime.h>, and that is not included.",
        "#include <hip/hip_runtime.h> as the first line.",
    ),
    compile_rule(
        "hip-header",
        _UNKNOWN,
        "`{name}` is in a header of HIP that is not included.",
        "#include <{header}>.",
        look_up=_header,
    ),
    compile_rule(
        "cuda-name",
        _UNKNOWN,
        "`{name}` is CUDA's name.",
        "In HIP it is {instead}. Or send the file as .cu: it is translated.",
        look_up=_renamed,
    ),
    compile_rule(
        "cuda-only",
        _UNKNOWN,
        "`{name}` is CUDA's, and HIP has no counterpart.",
        "{instead}.",
        look_up=_without,
    ),
    compile_rule(
        "hip-misspelt",
        _UNKNOWN,
        "HIP has no `{name}`.",
        "The nearest that exists is {nearest}.",
        look_up=_nearest,
    ),
    compile_rule(
        "hip-include",
        r"'(?P<name>(cuda|cub/|cooperative_groups|mma|curand|cublas)[\w./]*)' file not found",
        "<{name}> is a header of CUDA's.",
        "HIP's are hip/hip_runtime.h, hip/hip_fp16.h, hip/hip_bf16.h, "
        "hip/hip_cooperative_groups.h and hipcub/hipcub.hpp. Or send the file as .cu.",
    ),
    compile_rule(
        "hip-file",
        r"'(?P<name>[^']*)' file not found",
        "<{name}> is neither among the files of the submission nor among HIP's headers here.",
        "Send it as a file of the submission, or leave it out: kernels need hip/*.h and plain C++ "
        "headers such as <cstdint>, <limits>, <type_traits> only.",
    ),
    compile_rule(
        "foreign-file",
        r"includes a file that is neither of the submission",
        "An #include reaches a file outside the submission, whose content is not shown.",
        "Include only files of the submission, by name, and headers of HIP.",
    ),
)

_WAVES: tuple[Rule, ...] = (
    compile_rule(
        "mask-32-bits",
        r"mask must be a 64-bit integer",
        "Masks of shuffles and votes have 64 bits in HIP: a wavefront of CDNA has 64 lanes.",
        "Pass 0xffffffffffffffffULL for all lanes (on gfx11 and gfx12 0xffffffffULL), or use the "
        "forms without mask: __shfl_up(v, d, width), __ballot(p). For warps of 32 give width 32.",
    ),
    compile_rule(
        "mask-missing",
        r"no matching function for call to '(?P<name>__(shfl|ballot|any|all|match)\w*_sync)'",
        "{name} is called with other arguments than (mask, value, …).",
        "The mask comes first and has 64 bits: {name}(0xffffffffffffffffULL, value, …); or the "
        "form without mask and without _sync.",
    ),
    compile_rule(
        "warp-size-constant",
        r"(warpSize|__hip_warp_size)\W.*(constant expression)|constant.*(warpSize|__hip_warp_size)"
        r"|variable length array|array bound is not an integer constant",
        "warpSize is no constant in HIP: the same source is compiled for wavefronts of 32 and 64.",
        "Size shared arrays for the larger case, __shared__ float partial[1024 / 32], or make the "
        "size a template parameter or a macro given with -D.",
        line=r"warpSize|\[",
    ),
)

_LIMITS: tuple[Rule, ...] = (
    compile_rule(
        "lds-too-large",
        r"local memory \((?P<bytes>\d+)\) exceeds limit \((?P<limit>\d+)\) in '(?P<name>[^']*)'",
        "{name} has {bytes} bytes of __shared__ variables; a block has at most {limit} here "
        "(64 KiB on CDNA2, CDNA3 and RDNA; 160 KiB on gfx950).",
        "Use a smaller tile, a narrower type, or keep part of it in registers; about 16 KiB per "
        "block of 256 lets several blocks share a compute unit.",
    ),
    compile_rule(
        "no-dynamic-parallelism",
        r"device-side kernel call/launch is not supported",
        "A kernel launches a kernel: HIP has no dynamic parallelism.",
        "Launch it from Python, or loop over the work in this kernel.",
    ),
    compile_rule(
        "host-function",
        r"reference to __host__ (variable|function) '(?P<name>[^']*)' in __(device|global)__"
        r"|__host__ function is called from device code",
        "Device code uses something of the host's.",
        "Mark the function __device__ (or constexpr); constants as constexpr or __constant__.",
    ),
    compile_rule(
        "wrong-architecture",
        r"'(?P<name>__builtin_amdgcn_\w+)' needs target feature (?P<feature>[\w|,-]+)",
        "{name} is an instruction that this architecture has not ({feature}).",
        "Guard it: #if defined(__gfx942__) … #else …; MFMA is CDNA's, WMMA is RDNA's, DPP row "
        "operations differ. Plain C++ works on all.",
    ),
    compile_rule(
        "inline-assembly",
        r"invalid (instruction|(in|out)put constraint|operand)|instruction not supported",
        "Inline assembly is AMD's instruction set here, with v and s for vector and scalar "
        "registers; PTX is not read.",
        "Write it in C++, or with HIP's functions: __clz, __popc, __brev, __lane_id, "
        "__builtin_amdgcn_….",
    ),
)

_COMPILER: tuple[Rule, ...] = (
    compile_rule(
        "compile-endless",
        r"compiling took more than|recursive template instantiation exceeded",
        "The compiler did not come to an end.",
        "Give recursive templates and constexpr loops an end; unroll less (#pragma unroll 4).",
    ),
    compile_rule(
        "compiler-crash",
        r"compiler (was ended by|ran out of memory|ended with code)",
        "The compiler itself failed on this source.",
        "Simplify what changed last: huge constant arrays, deep templates, full unrolling of long "
        "loops, inline assembly.",
    ),
    compile_rule(
        "hip-option",
        r"option '(?P<name>[^']*)' is not for HIP's compiler",
        "{name} is not passed on.",
        "Use -D, -std=c++17, -ffast-math, -ffp-contract=off and warnings only; the architecture "
        "and the optimisation are the target's.",
    ),
)

_FOUND: tuple[Rule, ...] = (
    compile_rule(
        "vgpr-spills",
        r"(?P<name>\S+) spills (?P<count>\d+) VGPRs to scratch",
        "{name} needs more registers than it may have, and keeps the rest in memory.",
        "Bound the block: __launch_bounds__(256) gives a thread up to 512 registers on CDNA, none "
        "means blocks of 1024 and 128 registers; unroll less, split the kernel.",
    ),
    compile_rule(
        "scratch-arrays",
        r"(?P<name>\S+) keeps (?P<bytes>\d+) bytes per thread in scratch",
        "An array with indices that the compiler does not know at compile time lies in memory.",
        "Unroll the loops over it fully (#pragma unroll, constant bounds), or use shared memory.",
    ),
    compile_rule(
        "unknown-stack",
        r"stack of unknown size",
        "Recursion and calls through pointers need a stack, whose registers are guessed.",
        "Make it a loop; mark device functions __forceinline__.",
    ),
    compile_rule(
        "low-occupancy-vgprs",
        r"fills (?P<share>\d+%) of the wavefronts of \S+ with blocks of \d+: VGPRs",
        "Registers leave room for {share} of the wavefronts that would hide latency.",
        "The second argument of __launch_bounds__ is wavefronts per SIMD, not blocks: "
        "__launch_bounds__(256, 4) asks for at most 128 VGPRs on CDNA. Compare the speed: fewer "
        "wavefronts may still be faster.",
    ),
    compile_rule(
        "low-occupancy-lds",
        r"fills (?P<share>\d+%) of the wavefronts of \S+ with blocks of \d+: LDS",
        "Shared memory leaves room for {share} of the wavefronts that would hide latency.",
        "Less LDS per block: a smaller tile, narrower types, reuse of one array.",
    ),
    compile_rule(
        "no-ocml",
        r"(?P<name>\S.*) is in AMD's device library \(ocml\)",
        "The real compiler has {name}; the one here can't make code for it. Nothing is wrong with "
        "the kernel, and under emulation it runs.",
        "If a float would do, expf, exp2f, logf, log2f, sqrtf, __powf, __sinf and __cosf are "
        "instructions of the GPU; a bound check needs none of them.",
    ),
    compile_rule(
        "no-rocm-library",
        r"<(?P<name>[^>]*)> is a library of ROCm's",
        "A ROCm installation has <{name}>; the compiler here has only HIP's own headers, so it "
        "can't make code. Nothing is wrong with the kernel for that.",
        "Where registers and occupancy matter, write the scan or reduction with shuffles.",
    ),
    compile_rule(
        "template-unnamed",
        r"no kernel was compiled: a template's only",
        "A template becomes code when somebody asks for an instance.",
        'RawModule(code=…, name_expressions=("scan<float, 4>",)), or a kernel without template.',
    ),
    compile_rule(
        "half-wavefronts",
        r"supposes warps of 32",
        "The translation keeps warps of 32 lanes as halves of a wavefront of 64: right, and half "
        "as fast where a shuffle could cover 64.",
        "For speed write for warpSize: 6 steps instead of 5, lane = threadIdx.x % warpSize, masks "
        "and ballots of 64 bits with __popcll.",
    ),
    compile_rule(
        "hip-extern-c",
        r'(is|are) not extern "C", and found only as (?P<symbol>\S+)',
        "C++ mangles names, and get_function looks for the symbol.",
        'Write extern "C" __global__ void …, or pass name_expressions=(…) to RawModule and ask for '
        "the same text.",
    ),
    compile_rule(
        "hip-contraction",
        r"multiplications are fused with additions",
        "HIP fuses a * b + c by default, and __fmul_rn does not stop it: a bound check that is "
        "fused differs from what the decoder computes and lets violations through.",
        'Compile with options=("-ffp-contract=off",), or put #pragma clang fp contract(off) in '
        "the function that checks.",
    ),
)

_TRANSLATED: tuple[Rule, ...] = (
    compile_rule(
        "cuda-lost",
        r"^HIP('s cooperative groups)? (has|have) no (?P<name>[^:]+): (?P<instead>.+)",
        "The file is CUDA's and was translated; of {name} nothing could be made.",
        "{instead}.",
    ),
    compile_rule(
        "ptx",
        r"inline PTX \((?P<name>[^)]*)\) is NVIDIA's",
        "asm holds instructions of NVIDIA's; of these only plain ones are translated.",
        "Write {name} in C++ (__clz, __popc, __brev, __lane_id, __hip_atomic_load …), for both "
        "targets if both are wanted: #ifdef __HIP_PLATFORM_AMD__.",
    ),
    compile_rule(
        "warp-size-mixed",
        r"warpSize is 64 here",
        "warpSize and the number 32 are both used, and differ on this target.",
        "Use warpSize throughout, or 32 throughout with shuffles of width 32.",
    ),
)

RULES: tuple[Rule, ...] = (*_NAMES, *_WAVES, *_LIMITS, *_COMPILER, *_TRANSLATED, *_FOUND)


def guidance_about(diagnostics: Iterable[Diagnostic]) -> tuple[Guidance, ...]:
    """What the table says of messages about code that compiled, each rule once."""
    said = (first_guidance(RULES, _as_failure(one)) for one in diagnostics)
    return tuple(dict.fromkeys(one for one in said if one is not None))


def _as_failure(told: Diagnostic) -> Failure:
    return Failure(
        Status.ERROR, Status.COMPILED, FailureKind.COMPILE, told.message, diagnostics=(told,)
    )
