"""Names that a program uses and nobody declares: which one was meant."""

from __future__ import annotations

from collections.abc import Iterable

from .parse_habits import TYPE_WORDS

_SIMPRINT = '<simprint>: const sim = @import_module("<simprint>"); sim.printf(…)'
_MATH = 'const math = @import_module("<math>");'
_CONVERSION = "@as(T, value), or @bitcast(T, value) for the same bits"
_ELEMENTWISE = "an operation over DSDs, such as @fadds(out, a, b)"
_COPY = "@mov16, @mov32, @fmovh or @fmovs over DSDs"
_HOST_COPY = "the host's memcpy_h2d and memcpy_d2h, and @export_symbol of the array's pointer"
_PE = "a PE's place: param pe_x: u16; given by @set_tile_code, or fabric coordinates of <layout>"
_PARTS = "PEs share no memory: data goes by colours, with fabin_dsd and fabout_dsd"
_DSD = "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> a[i] })"

ALIASES: dict[str, str] = {
    **dict.fromkeys(
        [
            "@intCast",
            "@intcast",
            "@floatCast",
            "@floatFromInt",
            "@intFromFloat",
            "@intToFloat",
            "@floatToInt",
            "@truncate",
            "@boolToInt",
            "@intFromBool",
            "@enumToInt",
            "@intFromEnum",
            "@enumFromInt",
            "@cast",
            "@convert",
            "@int",
            "@float",
            "@static_cast",
            "@to_f32",
            "@to_u16",
            "@trunc",
        ],
        _CONVERSION,
    ),
    **dict.fromkeys(
        ["@bitCast", "@reinterpret", "@reinterpret_cast", "@as_bits"], "@bitcast(T, value)"
    ),
    **dict.fromkeys(
        ["@ptrCast", "@ptrcast_to", "@alignCast", "@ptr_cast"], "@ptrcast(*T, pointer)"
    ),
    **dict.fromkeys(
        ["@ptrToInt", "@intFromPtr", "@intToPtr", "@ptrFromInt"], "@bitcast(u16, pointer)"
    ),
    **dict.fromkeys(["@typeOf", "@TypeOf", "@typeof", "@typeInfo"], "@type_of(value)"),
    **dict.fromkeys(["@hasField", "@hasDecl"], '@has_field(struct, "name")'),
    **dict.fromkeys(["@import", "@include", "@require"], '@import_module("file.csl")'),
    "@embedFile": '@import_comptime_value(T, "file.json")',
    **dict.fromkeys(
        ["@compileError", "@compile_error", "@static_assert", "@panic"],
        '@comptime_assert(condition, "message")',
    ),
    **dict.fromkeys(["@compileLog", "@compile_log", "@debug"], "@comptime_print(value, …)"),
    **dict.fromkeys(["@printf", "@print", "@println", "@puts", "@log_message"], _SIMPRINT),
    **dict.fromkeys(["printf", "print", "println", "puts", "fprintf", "cout"], _SIMPRINT),
    **{
        f"@{one}": f"{_MATH} math.{one}(x)"
        for one in [
            "sqrt",
            "exp",
            "log",
            "sin",
            "cos",
            "tan",
            "pow",
            "ceil",
            "floor",
            "abs",
            "min",
            "max",
            "sign",
        ]
    },
    **{
        one: f"{_MATH} math.{one}(x)"
        for one in [
            "sqrt",
            "exp",
            "log",
            "sin",
            "cos",
            "tan",
            "pow",
            "ceil",
            "floor",
            "abs",
            "min",
            "max",
        ]
    },
    **{
        f"{one}f": f"{_MATH} math.{one}(x)"
        for one in ["sqrt", "exp", "log", "sin", "cos", "tan", "pow", "ceil", "floor"]
    },
    **dict.fromkeys(
        ["@fabs", "@abs_f32", "fabs", "fabsf"], f"{_MATH} math.abs(x), or @fabss over DSDs"
    ),
    **dict.fromkeys(["@rsqrt", "rsqrt", "@inv_sqrt"], f"{_MATH} 1.0 / math.sqrt(x)"),
    **dict.fromkeys(["@memcpy", "@memmove", "@copy", "memcpy", "memmove"], _COPY),
    **dict.fromkeys(
        ["@memset", "memset", "@fill", "@splat"], "@constants([n]T, value), or @fmovs(dsd, value)"
    ),
    **dict.fromkeys(
        ["@sizeOf", "@sizeof", "@bitSizeOf", "sizeof", "@len", "@length", "@count"],
        "@element_count([n]T)",
    ),
    **dict.fromkeys(
        [
            "@array_view",
            "@view",
            "@slice",
            "@subarray",
            "@dsd",
            "@make_dsd",
            "@create_dsd",
            "@get_mem_dsd",
        ],
        _DSD,
    ),
    **dict.fromkeys(
        ["@load", "@read", "@load_dsd", "@get"], "a[i], p.*, or @load_to_dsr(dsr, dsd)"
    ),
    **dict.fromkeys(
        ["@store", "@write", "@set", "@put"], "a[i] = x;, p.* = x;, or @fmovs(dest, src)"
    ),
    **dict.fromkeys(
        ["@send", "@fabric_send", "@fabout", "@transmit"],
        "@fmovs(fabout_dsd, src, .{ .async = true })",
    ),
    **dict.fromkeys(
        ["@recv", "@receive", "@fabric_recv", "@fabin"],
        "@fmovs(dest, fabin_dsd, .{ .async = true }), or a data task",
    ),
    **dict.fromkeys(
        [
            "@add",
            "@sub",
            "@mul",
            "@fadd",
            "@fsub",
            "@fmul",
            "@div",
            "@vadd",
            "@vmul",
            "@addWithOverflow",
        ],
        _ELEMENTWISE,
    ),
    **dict.fromkeys(
        ["@fma", "@mac", "@fmac", "@mulAdd", "@fmadd"],
        "@fmacs(dest, a, b, scalar) over DSDs, or a * b + c",
    ),
    **dict.fromkeys(["@add32", "@sub32", "@addi"], "32-bit integers: a loop, or @map over DSDs"),
    **dict.fromkeys(
        ["@mulh", "@mul16", "@div16", "@mod16"], "a loop, or @map(function, in, out) over DSDs"
    ),
    **dict.fromkeys(["@shl", "@shlExact", "@sll"], "a << n, or @sll16 over DSDs"),
    **dict.fromkeys(
        ["@shr", "@shrExact", "@srl", "@sra"], "a >> n, or @slr16 and @sar16 over DSDs"
    ),
    **dict.fromkeys(["@and", "@bitand"], "a & b, or @and16 over DSDs"),
    **dict.fromkeys(["@or", "@bitor"], "a | b, or @or16 over DSDs"),
    **dict.fromkeys(["@xor", "@bitxor"], "a ^ b, or @xor16 over DSDs"),
    **dict.fromkeys(["@popCount", "@popcount"], "@popcnt(dest, src)"),
    **dict.fromkeys(["@divTrunc", "@divFloor", "@divExact"], "a / b, which truncates"),
    **dict.fromkeys(["@rem", "@mod"], "a % b"),
    **dict.fromkeys(
        ["@splitmix", "@rand", "@random", "rand", "random"], "@random16(), or <random>"
    ),
    **dict.fromkeys(
        ["@reduce", "@sum", "@allreduce", "@broadcast"],
        "<collectives_2d>, or @fadds(&sum, src, &sum) for one PE",
    ),
    **dict.fromkeys(
        ["@bind_task_id", "@bind", "@bind_function"],
        "@bind_local_task, @bind_data_task or @bind_control_task",
    ),
    **dict.fromkeys(
        ["@get_task_id", "@task_id"],
        "@get_local_task_id, @get_data_task_id or @get_control_task_id",
    ),
    **dict.fromkeys(["@color", "@create_color", "@new_color"], "@get_color(number)"),
    **dict.fromkeys(
        ["@set_routes", "@set_route", "@configure_color", "@route"],
        "@set_color_config(x, y, color, .{ .routes = … })",
    ),
    **dict.fromkeys(
        ["@place", "@set_pe_code", "@set_code", "@tile_code"],
        '@set_tile_code(x, y, "file.csl", .{})',
    ),
    **dict.fromkeys(
        ["@export", "@export_fn", "@export_function", "@export_var"],
        '@export_symbol(variable, "name") in comptime { … }, and @export_name in the layout',
    ),
    **dict.fromkeys(["@get_pe_id", "@pe_x", "@pe_y", "@get_x", "@get_coord"], _PE),
    **dict.fromkeys(
        ["@timestamp", "@clock", "@get_cycles", "@get_timestamp", "clock"],
        'const t = @import_module("<time>"); t.get_timestamp(&buffer)',
    ),
    **dict.fromkeys(
        ["@wait", "@await", "@sleep", "@barrier", "@sync", "@yield"],
        "a task that the operation activates: .{ .async = true, .activate = done }",
    ),
    **dict.fromkeys(
        ["@alloc", "@malloc", "malloc", "free", "calloc"],
        "nothing is allocated at run time: var buffer = @zeros([n]f32);",
    ),
    **dict.fromkeys(["threadIdx", "blockIdx", "blockDim", "gridDim", "get_global_id"], _PE),
    **dict.fromkeys(["__syncthreads", "barrier", "cudaDeviceSynchronize"], _PARTS),
    **dict.fromkeys(
        ["__global__", "__device__", "__kernel"], "fn name(x: u16) f32 { … }: it runs on its PE"
    ),
    **dict.fromkeys(["__shared__", "__shfl_sync", "__shfl_down_sync", "atomicAdd"], _PARTS),
    **dict.fromkeys(["cudaMemcpy", "cudaMalloc"], _HOST_COPY),
    **dict.fromkeys(
        ["NULL", "null", "nullptr", "nil", "None"],
        "CSL has no null: keep a bool beside the pointer",
    ),
    **dict.fromkeys(["True", "TRUE"], "true"),
    **dict.fromkeys(["False", "FALSE"], "false"),
    **dict.fromkeys(["self", "this"], "CSL has no methods: the value is a parameter"),
    **dict.fromkeys(["string", "str", "String"], "comptime_string, or [n]u8 at run time"),
    **dict.fromkeys(["Color", "colour"], "color"),
    **dict.fromkeys(["North", "north", "UP"], "NORTH"),
    **dict.fromkeys(["South", "south", "DOWN"], "SOUTH"),
    **dict.fromkeys(["East", "east", "RIGHT"], "EAST"),
    **dict.fromkeys(["West", "west", "LEFT"], "WEST"),
    **dict.fromkeys(["Ramp", "ramp", "CORE", "LOCAL"], "RAMP"),
    **{word: meant for word, meant in TYPE_WORDS.items() if word != meant},
    **dict.fromkeys(["range", "len"], "@range(u16, n), or @element_count([n]T)"),
    **dict.fromkeys(["assert", "require"], "@assert(condition)"),
    **dict.fromkeys(["sizeof", "typeof"], "@element_count([n]T), @type_of(value)"),
}
"""What well-known names of elsewhere are in CSL."""


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """A hint for a name that isn't declared: what it is in CSL, or which candidate was meant.

    Empty if nothing resembles it.
    """
    known = sorted(set(candidates))
    if name in ALIASES:
        return f"in CSL: {ALIASES[name]}"
    folded = [one for one in known if _folded(one) == _folded(name)]
    if folded:
        return f"did you mean `{folded[0]}`?"
    limit = max(1, len(name.lstrip("@")) // 3)
    near = [
        (_distance(name, one, limit), one) for one in known if abs(len(one) - len(name)) <= limit
    ]
    best = min(near, default=(limit + 1, ""))
    if best[0] > limit or len(name.lstrip("@")) < 2:
        return _without_at(name, known)
    return f"did you mean `{best[1]}`?"


def _without_at(name: str, known: list[str]) -> str:
    """`fadds(…)` for `@fadds(…)`, and the other way round."""
    other = name[1:] if name.startswith("@") else f"@{name}"
    return f"did you mean `{other}`?" if other in known else ""


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _distance(one: str, two: str, limit: int) -> int:
    """Letters to put in, take out, replace or swap with their neighbour; beyond `limit`: more."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
