"""What NVRTC, ptxas and the looks at compiled code mean. From the particular to the general."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.records import Diagnostic, Failure, FailureKind, Guidance, Status
from toolchains.gpu_compile.cuda_names import cuda_names, nearest_cuda_name

from .rules import Facts, Rule, compile_rule, first_guidance

_UNDEFINED = r'identifier "(?P<name>\w+)" is undefined'


def _header_of(facts: Facts) -> Facts | None:
    """Of a name that exists once its header is included."""
    known = cuda_names().get(str(facts["name"]))
    return {"header": known.header} if known and known.header else None


def _arch_of(facts: Facts) -> Facts | None:
    """Of a name that later architectures have."""
    known = cuda_names().get(str(facts["name"]))
    return {"arch": f"sm_{known.arch}"} if known and known.arch else None


def _nearest(facts: Facts) -> Facts | None:
    known = nearest_cuda_name(str(facts["name"]))
    if known is None:
        return None
    return {
        "nearest": known.name,
        "with": f", with #include <{known.header}>" if known.header else "",
    }


_NAMES: tuple[Rule, ...] = (
    compile_rule(
        "host-api",
        r'identifier "(?P<name>cuda[A-Z]\w*|cu[A-Z]\w*)" is undefined',
        "{name} is of the host's runtime; a source here is device code alone.",
        "Remove it: kernel.py allocates, copies and launches with cupy (cupy.empty, arrays, "
        "RawModule(code=…).get_function(name)(grid, block, args)).",
    ),
    compile_rule(
        "warp-mask",
        r'identifier "(?P<name>__(shfl(_up|_down|_xor)?|any|all|ballot))" is undefined',
        "Since sm_70 warp functions take the mask of lanes that take part.",
        "Write {name}_sync(0xffffffffu, …), with the mask first, where all 32 lanes arrive.",
    ),
    compile_rule(
        "missing-include",
        _UNDEFINED,
        "{name} is declared in <{header}>.",
        "Put #include <{header}> at the top of the source.",
        look_up=_header_of,
    ),
    compile_rule(
        "later-architecture",
        _UNDEFINED,
        "{name} exists from {arch} on, and this compiles for an older architecture.",
        "Put the use between #if __CUDA_ARCH__ >= … and #else with another way (for a warp's sum: "
        "five __shfl_xor_sync), or choose a target from {arch} on.",
        look_up=_arch_of,
    ),
    compile_rule(
        "misspelt",
        _UNDEFINED,
        "CUDA has no {name}.",
        "The nearest that exists is {nearest}{with}; if {name} is your own, declare it before "
        "its use.",
        look_up=_nearest,
    ),
    compile_rule(
        "undefined",
        _UNDEFINED,
        "Nothing is called {name} here: misspelt, out of scope, or declared further down.",
        "Declare it before its use; functions that kernels call need __device__.",
    ),
    compile_rule(
        "cooperative-groups",
        r'name must be a namespace name|name followed by "::" must be a class or namespace name',
        "The namespace is not known: its header is not included, or the alias is missing.",
        "For cooperative groups: #include <cooperative_groups.h> and then "
        "namespace cg = cooperative_groups;",
    ),
    compile_rule(
        "std-container",
        r'namespace "std" has no member "(?P<name>vector|string|cout|cerr|endl|map|unordered_map|'
        r'unique_ptr|shared_ptr|function|thread|sort|stringstream|list|deque)"',
        "std::{name} is the host's; device code has no such library.",
        "Use arrays given as arguments, local arrays of fixed size or shared memory, and printf to "
        "print.",
    ),
    compile_rule(
        "std-member",
        r'namespace "std" has no member "(?P<name>\w+)"',
        "std::{name} is not known: its header is not included, or device code has none.",
        "There are <algorithm> (min, max, clamp), <cmath>, <cstdint>, <limits>, <type_traits> and "
        "<utility> here; without std, min, max, abs and the functions of math work as they are. "
        "For more there is cuda::std::{name} (#include <cuda/std/…>), which takes a second.",
    ),
    compile_rule(
        "member",
        r'class "(?P<owner>[\w:]+)" has no member "(?P<name>\w+)"',
        "{owner} has no {name}; CUDA's vectors have x, y, z and w, as many as their name says.",
        "Use one of its members.",
    ),
)

_HOST: tuple[Rule, ...] = (
    compile_rule(
        "whole-cub",
        r"Including <cub/cub\.cuh> is not supported",
        "NVRTC takes only CUB's headers for devices, one by one.",
        "Include the one that you use: <cub/block/block_scan.cuh>, <cub/block/block_reduce.cuh>, "
        "<cub/warp/warp_scan.cuh>. Device-wide algorithms (cub::DeviceScan) are the host's.",
    ),
    compile_rule(
        "host-library",
        r"\(in (?P<file>thrust/[\w/.]+):",
        "<{file}> is of a library whose algorithms the host calls.",
        "Write the kernel itself; within a block, cub::BlockScan and its like can be used.",
    ),
    compile_rule(
        "host-header",
        r'cannot open source file "(?P<name>iostream|vector|string|map|unordered_map|memory|thread|'
        r"fstream|sstream|iomanip|chrono|random|functional|numeric|stdexcept|unistd\.h|"
        r'sys/\w+\.h|omp\.h|helper_cuda\.h)"',
        "<{name}> is the host's: NVRTC compiles device code, and has no C++ library of the host.",
        "Remove it with what uses it. There are <cstdint>, <cmath>, <algorithm>, <limits>, "
        "<type_traits>, <utility>, <cstdio> (printf) and CUDA's own headers.",
    ),
    compile_rule(
        "missing-header",
        r'cannot open source file "(?P<name>[^"]+)"',
        "There is no file {name}: a source can include the submission's own files, by their names, "
        "and CUDA's headers.",
        "Send {name} with the submission, or put its text into the source.",
    ),
    compile_rule(
        "launch-in-source",
        r"device-side kernel launch",
        "Kernels are launched from kernel.py; launching from device code needs another runtime.",
        'Remove the <<<…>>>, and call cupy.RawModule(code=…).get_function("name")(grid, block, '
        "args) there.",
    ),
    compile_rule(
        "host-function",
        r"is considered a host function|marked as a __host__ function is not allowed",
        "A function without __device__ or __global__ is the host's, and a source here is device "
        "code alone.",
        "Put __device__ before a function that kernels call; remove main and other host code: its "
        "work is kernel.py's, in cupy.",
    ),
    compile_rule(
        "host-variable",
        r"is considered a host variable|a host variable .* cannot be directly read",
        "A variable outside functions needs a memory space.",
        "Write __constant__ or __device__ before it; a constant of one number can be constexpr.",
    ),
    compile_rule(
        "exceptions",
        r"device code does not support exception handling",
        "Device code has no exceptions.",
        "Return a code, write a flag to memory that kernel.py looks at, or call __trap().",
    ),
)

_MEMORY: tuple[Rule, ...] = (
    compile_rule(
        "too-much-shared",
        r"has (?P<bytes>\d+) bytes of static shared memory, and at most (?P<most>\d+)",
        "Static shared memory of a block is {most} bytes at most; this has {bytes}.",
        "Use a smaller tile or a narrower type; or extern __shared__ float s[]; with the size "
        "given at the launch (shared_mem=…), and before it "
        "kernel.max_dynamic_shared_size_bytes = ….",
    ),
    compile_rule(
        "too-much-constant",
        r"bytes of __constant__ variables",
        "A module has 64 KiB of constant memory.",
        "Pass the table as an array in device memory (const … * __restrict__), or compute it.",
    ),
    compile_rule(
        "shared-initialiser",
        r"initializer not allowed for __shared__ variable",
        "Shared memory has no content when a block begins.",
        "Let threads write it: if (threadIdx.x < n) s[threadIdx.x] = 0; __syncthreads();",
    ),
    compile_rule(
        "dynamic-shared-types",
        r'declaration is incompatible with previous "(?P<name>\w+)"',
        "Every extern __shared__ array is the same memory, so all of one name need one type.",
        "Declare extern __shared__ unsigned char {name}[]; and cast where it is used, or give each "
        "a name of its own.",
        line=r"extern.*__shared__",
    ),
    compile_rule(
        "warp-size-constant",
        r"must have a constant value",
        "warpSize is a variable to the compiler, not a constant.",
        "Write constexpr int WARP = 32; (a wavefront of AMD's has 64 or 32) and use that for sizes "
        "and template arguments.",
        line=r"\bwarpSize\b",
    ),
    compile_rule(
        "array-size",
        r"must have a constant value",
        "Sizes of arrays, template arguments and counts to unroll must be known to the compiler.",
        "Use constexpr, #define or a template parameter; for a size known at the launch, extern "
        "__shared__.",
    ),
    compile_rule(
        "read-only",
        r"must be a modifiable lvalue",
        "What is written to is const here.",
        "Take const from the parameter or variable, or write elsewhere.",
    ),
)

_CALLS: tuple[Rule, ...] = (
    compile_rule(
        "shuffle-arguments",
        r'no instance of overloaded function "(?P<name>__(shfl|ballot|any|all|match|reduce)\w*)"',
        "{name} takes the mask of lanes first, then the value.",
        "Write {name}(0xffffffffu, value, …); shuffles take 32- and 64-bit numbers and halves.",
    ),
    compile_rule(
        "atomic-64",
        r'overloaded function "(?P<name>atomic\w+)" .*types are: \((unsigned )?long( long)? \*',
        "64-bit atomics are for unsigned long long (atomicAdd, CAS, Exch, And, Or, Xor, Min, Max).",
        "Make the variable unsigned long long; a signed sum is the same modulo 2^64.",
    ),
    compile_rule(
        "atomic-float",
        r'function "(?P<name>atomic(Max|Min|CAS|And|Or|Xor))" .*are: \((float|double) \*',
        "{name} is not there for floating point.",
        "Work on the bits: for values ≥ 0, atomicMax((int *)p, __float_as_int(v)) orders as floats "
        "do; else a loop of atomicCAS on the bits.",
    ),
    compile_rule(
        "atomic-type",
        r'no instance of overloaded function "(?P<name>atomic\w+)"',
        "{name} is not there for these types.",
        "Use int, unsigned, unsigned long long or float in 32- or 64-bit memory; smaller ones have "
        "no atomics: pack them into a word.",
    ),
    compile_rule(
        "ambiguous",
        r'more than one instance of overloaded function "(?P<name>\w+)"',
        "The arguments of {name} have different types, and several versions fit.",
        "Cast them to one type: {name}((int)a, (int)b).",
    ),
    compile_rule(
        "vector-operator",
        r'no operator "[^"]+" matches .*\b(u?(char|short|int|long|longlong)|float|double)[234]',
        "CUDA's vector types have no operators.",
        "Compute the members one by one: make_float4(a.x + b.x, …), or define the operator as a "
        "__device__ function.",
    ),
    compile_rule(
        "arguments",
        r"no instance of (overloaded )?function|too (few|many) arguments"
        r"|is incompatible with parameter",
        "No version of the function takes these arguments.",
        "Compare number and types with its declaration; pointers are not converted by themselves.",
    ),
    compile_rule(
        "kernel-type",
        r"__global__ function must have a void return type",
        "A kernel returns nothing.",
        "Write __global__ void, and write results to arrays.",
    ),
    compile_rule(
        "template-recursion",
        r"excessive recursion at instantiation",
        "Templates are instantiated within each other 200 deep at most.",
        "Use a loop, constexpr with a loop, or #pragma unroll in place of recursive templates.",
    ),
)

_ASSEMBLY: tuple[Rule, ...] = (
    compile_rule(
        "asm-mask",
        r"Instruction '(?P<name>\w+)' without '\.sync' is not supported",
        "Since sm_70 warp instructions take the mask of lanes that take part.",
        "Use the functions that end in _sync, or {name}.sync in assembly, with 0xffffffff as mask.",
    ),
    compile_rule(
        "asm-architecture",
        r"requires \.target (?P<arch>sm_\w+)|requires \.target (?P<other>\S+) or higher",
        "This instruction exists from {arch}{other} on.",
        "Put it between #if __CUDA_ARCH__ >= … and #else with another way, or choose that target.",
    ),
    compile_rule(
        "asm-instruction",
        r"Not a name of any known instruction: '(?P<name>\w+)'",
        "PTX has no instruction {name}: assembly in a source is PTX, not the GPU's own SASS.",
        "See the PTX ISA for its spelling (lop3.b32, shfl.sync.down.b32, bfe.u32), or use an "
        "intrinsic: __funnelshift_l, __byte_perm, __popc, __clz, __ffs, __brev.",
    ),
    compile_rule(
        "asm-operands",
        r"ptxas: Arguments mismatch for instruction '(?P<name>[\w.]+)'",
        "{name} takes other operands: their number, or a type that its constraint does not give.",
        'Constraints: "r" 32-bit integer, "l" 64-bit, "f" float, "d" double, "h" 16-bit; '
        "outputs first, as %0.",
    ),
    compile_rule(
        "asm-constraint",
        r"does not match type/size implied by constraint '(?P<name>\w)'",
        "The variable does not have the size that the constraint {name} says.",
        'Constraints: "r" 32-bit integer, "l" 64-bit, "f" float, "d" double, "h" 16-bit.',
    ),
    compile_rule(
        "asm",
        r"^ptxas: (?!.*minnctapersm)(Parsing error|Unknown symbol|Syntax|Unexpected|Illegal)",
        "The assembly does not parse as PTX.",
        "Each instruction ends in ;, several are parted by \\n, registers of your own are declared "
        "within {{ }}, and a % is written %%.",
    ),
)

_RUN: tuple[Rule, ...] = (
    compile_rule(
        "name-expression",
        r"^name expression '(?P<name>[^']*)'",
        "The name expression {name} names no kernel of the source.",
        "Give the instance as C++ writes it, with its namespace: name_expressions=('scan<float, "
        "4>',), and ask get_function for the same text.",
    ),
    compile_rule(
        "no-kernel",
        r"no kernel was compiled",
        "A template is compiled only for the instances that are asked for.",
        "Pass name_expressions=('kernel<float>',) to RawModule, or write a plain kernel that calls "
        'the template: extern "C" __global__ void k(…).',
    ),
    compile_rule(
        "option",
        r"option '(?P<name>[^']*)' is not for NVRTC here",
        "{name} is not among the options that are passed on.",
        "There are -D, -U, -std=c++17, -fmad=false, --use_fast_math, -ftz, -prec-div, -prec-sqrt, "
        "-maxrregcount=N, -restrict, -default-device, -w, -diag-suppress=N.",
    ),
    compile_rule(
        "unknown-architecture",
        r"does not compile for (?P<arch>sm_\w+); it does for (?P<known>.*)",
        "The installed NVRTC does not compile for {arch}.",
        "Choose another target: {known}.",
    ),
    compile_rule(
        "compiler-time",
        r"compiler did not finish within",
        "Compiling takes too long: huge tables, constexpr loops, macros or unrolled loops.",
        "Unroll less (#pragma unroll 4), instantiate fewer templates, and compute tables in "
        "kernel.py.",
    ),
    compile_rule(
        "compiler-died",
        r"compiler was ended by signal|compiler failed with exit code|out of memory",
        "The compiler itself came to an end on this source.",
        "Make it smaller, by halves, until it compiles: the part taken out last has the cause.",
    ),
    compile_rule(
        "error-directive",
        r"#error directive: (?P<text>.*)",
        "The source, or a header of it, stops here on purpose: {text}",
        "Do what it says.",
    ),
)

_SYNTAX: tuple[Rule, ...] = (
    compile_rule(
        "syntax",
        r"^expected |unrecognized token|directive is missing",
        "The source does not parse here, often for want of a ; or a bracket on the line before.",
        "Look at the end of the line before, and at brackets that are open.",
    ),
)

_FOUND: tuple[Rule, ...] = (
    compile_rule(
        "launch-bounds",
        r"for entry (?P<name>\S+) is out of range|minnctapersm will be ignored",
        "More threads than a multiprocessor holds are asked for by __launch_bounds__, so its "
        "second number is ignored.",
        "Blocks of it times threads must fit: 1024 threads on sm_75, 1536 on sm_86, sm_89 and "
        "sm_120, 2048 on sm_80, sm_90 and sm_100.",
    ),
    compile_rule(
        "spills",
        r"^(?P<name>.*) spills registers to local memory on (?P<arch>\w+): (?P<bytes>\d+)",
        "A thread of {name} needs more registers than it may have, and keeps the rest in memory.",
        "Unroll less, keep fewer values at a time (a loop over parts of a block), or allow more "
        "registers: fewer threads in __launch_bounds__, no -maxrregcount.",
    ),
    compile_rule(
        "local-arrays",
        r"^(?P<name>.*) keeps (?P<bytes>\d+) bytes per thread in local memory",
        "An array of each thread lies in memory, since it is indexed by a variable or passed on by "
        "address.",
        "Make indices constant (#pragma unroll on the loop over it), or put it into shared memory.",
    ),
    compile_rule(
        "cannot-launch",
        r"^(?P<name>.*) can't be launched with .*: .*(registers|shared memory)",
        "A block of that many threads needs more registers or shared memory than there are.",
        "Say how many threads it is launched with: __launch_bounds__(256) lets the compiler fit "
        "it; or use smaller blocks.",
    ),
    compile_rule(
        "low-occupancy",
        r"^(?P<name>.*) fills (?P<share>\d+%) of the warps .*: (?P<limit>registers|shared memory)",
        "{limit} keep most of the multiprocessor's warps away, and with few of them latency of "
        "memory shows.",
        "Use less of that per thread or block; it matters where a kernel waits for memory, less "
        "where each thread has much independent work.",
    ),
    compile_rule(
        "extern-c",
        r'(is|are) not extern "C", and found only as (?P<symbol>\S+)',
        "C++ mangles names, and get_function looks for the symbol.",
        'Write extern "C" __global__ void …, or pass name_expressions=(…) to RawModule and ask for '
        "the same text.",
    ),
    compile_rule(
        "doubles",
        r"floats are converted to double, of which \S+ computes 1 for (?P<rate>\d+)",
        "Double precision is {rate} times slower than single here; often only a literal made it "
        "double.",
        "Write 0.5f for 0.5, and fabsf, sqrtf, floorf for float; the contract's test of the bound "
        "needs no double.",
    ),
    compile_rule(
        "fma-contraction",
        r"multiplications are fused with additions",
        "A product that is not rounded before it is added makes the test |x − x'| ≤ bound let "
        "violations through, and results differ from those of the emulator.",
        'Pass options=("-fmad=false",) to RawModule, or write __fmul_rn(q, step) in the test and '
        "wherever the decoder must give the same bits.",
    ),
    compile_rule(
        "uninitialised",
        r'variable "(?P<name>\w+)" is used before its value is set',
        "{name} has no value here.",
        "Give it one where it is declared.",
    ),
)

RULES: tuple[Rule, ...] = (
    *_HOST, *_RUN, *_NAMES, *_MEMORY, *_CALLS, *_ASSEMBLY, *_SYNTAX, *_FOUND,
)  # fmt: skip


def guidance_about(diagnostics: Iterable[Diagnostic]) -> tuple[Guidance, ...]:
    """What the table says of messages about code that compiled, each rule once."""
    said = (first_guidance(RULES, _as_failure(one)) for one in diagnostics)
    return tuple(dict.fromkeys(one for one in said if one is not None))


def _as_failure(told: Diagnostic) -> Failure:
    return Failure(
        Status.ERROR, Status.COMPILED, FailureKind.COMPILE, told.message, diagnostics=(told,)
    )
