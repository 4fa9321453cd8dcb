"""Words of other languages, and how CSL says what they say."""

from __future__ import annotations

TYPE_WORDS = {
    **dict.fromkeys(("int", "signed", "int32_t", "s32", "isize"), "i32"),
    **dict.fromkeys(("unsigned", "uint", "uint32_t", "size_t", "usize", "dword"), "u32"),
    **dict.fromkeys(("char", "uint8_t", "uchar", "byte"), "u8"),
    **dict.fromkeys(("int8_t", "schar"), "i8"),
    **dict.fromkeys(("short", "int16_t", "s16"), "i16"),
    **dict.fromkeys(("ushort", "uint16_t", "word"), "u16"),
    **dict.fromkeys(("long", "int64_t"), "i64"),
    **dict.fromkeys(("ulong", "uint64_t"), "u64"),
    **dict.fromkeys(("float", "double", "float32_t", "single", "f64", "real"), "f32"),
    **dict.fromkeys(("half", "float16", "float16_t", "__half"), "f16"),
    **dict.fromkeys(("boolean", "_Bool"), "bool"),
    **{
        word: word
        for word in [
            "bool",
            "void",
            "f16",
            "f32",
            "i8",
            "i16",
            "i32",
            "i64",
            "u8",
            "u16",
            "u32",
            "u64",
            "color",
        ]
    },
}
"""Names of types, of C mostly, and what they are in CSL."""

_FUNCTION = "fn name(x: u16) f32 { … }"
VARIABLE = "var x: u16 = 0; or const x = 0;"
ERRORS = "return a value that says so, or stop with @assert"
LOOP = "for (@range(u16, n)) |i| { … } or while (i < n) : (i += 1) { … }"
_IMPORT = 'const m = @import_module("file.csl");'
_HOST = "the host's program calls functions that @export_symbol names"

FIRST = {
    **dict.fromkeys(
        ("def", "func", "function", "proc", "sub"), ("functions begin with `fn`", _FUNCTION)
    ),
    "pub": ("CSL has no `pub`: every global of a module is visible", "leave it out"),
    **dict.fromkeys(
        ("let", "auto", "mut", "final", "dim"),
        ("declarations begin with `var` or `const`", VARIABLE),
    ),
    "static": (
        "CSL has no `static`: globals keep their value",
        "declare it outside of the function",
    ),
    **dict.fromkeys(
        ("elif", "elseif", "elsif"), ("CSL writes `else if`", "if (a) { … } else if (b) { … }")
    ),
    "do": ("CSL has no `do`", "while (true) { …; if (!again) { break; } }"),
    "loop": ("CSL has no `loop`", "while (true) { … }"),
    **dict.fromkeys(("foreach", "until", "repeat"), ("CSL has two loops", LOOP)),
    **dict.fromkeys(
        ("match", "case", "default"),
        ("choices among values are a `switch`", "switch (x) { 1, 2 => f(), else => g() }"),
    ),
    **dict.fromkeys(
        ("try", "catch", "throw", "raise"), ("CSL has no errors or exceptions", ERRORS)
    ),
    **dict.fromkeys(("defer", "errdefer"), ("CSL has no `defer`", "do it at the end of the block")),
    "goto": ("CSL has no `goto`", "a loop with `break`, or a task and @activate"),
    **dict.fromkeys(
        ("async", "await", "suspend", "resume"),
        (
            "asynchronous are operations, not functions",
            "@fmovs(out, in, .{ .async = true, .activate = done });",
        ),
    ),
    **dict.fromkeys(
        ("import", "from", "use", "using", "include", "require"),
        ("modules are imported by a builtin", _IMPORT),
    ),
    **dict.fromkeys(
        ("class", "impl", "trait", "interface"),
        ("CSL has no methods", "const T = struct { a: u16, b: f32 }; and functions that take it"),
    ),
    "typedef": ("types are constants", "const Word = u16;"),
    "template": (
        "functions over types have parameters that are types",
        "fn f(comptime T: type, x: T) T { … }",
    ),
    **dict.fromkeys(("namespace", "module", "package", "mod"), ("every file is a module", _IMPORT)),
    "test": ("CSL has no tests", "check with @comptime_assert, or from the host"),
    **dict.fromkeys(
        ("__global__", "__kernel", "kernel"),
        ("CSL has no kernels: a program runs on every PE", f"{_FUNCTION} — {_HOST}"),
    ),
    **dict.fromkeys(
        ("__device__", "__host__", "__forceinline__"),
        ("functions run on the PE that calls them", _FUNCTION),
    ),
    **dict.fromkeys(
        ("__shared__", "__constant__", "__local"),
        ("all memory is the PE's own", "var buffer = @zeros([256]f32);"),
    ),
    **dict.fromkeys(("pass", "end", "begin", "endif"), ("blocks are in braces", "if (a) { … }")),
    "assert": ("assertions are builtins", "@assert(condition);"),
    "lambda": ("CSL has no functions without a name", _FUNCTION),
    "register": ("variables need no `register`", VARIABLE),
}
"""Words that begin something elsewhere and are plain names here: what to say, what to write."""

BEFORE = {
    **{
        word: FIRST[word]
        for word in (
            "try",
            "defer",
            "errdefer",
            "let",
            "auto",
            "mut",
            "pub",
            "static",
            "throw",
            "raise",
            "goto",
            "await",
            "async",
            "lambda",
            "case",
            "default",
            "class",
            "import",
            "typedef",
        )
    },
    "not": ("CSL writes `!`", "!a"),
    "new": ("nothing is allocated at run time", "var buffer = @zeros([256]f32);"),
    "delete": ("nothing is allocated at run time", "leave it out"),
    "sizeof": ("CSL has no `sizeof`", "@element_count([n]T) counts the elements of an array type"),
    "typeof": ("the type of an expression is a builtin", "@type_of(x)"),
    "yield": ("tasks run to their end", "@activate(id) of another task"),
}
"""Words in front of something that can't follow a name."""

BETWEEN = {
    "orelse": ("CSL has no optionals", "keep a bool beside the value: if (valid) x else y"),
    "catch": ("CSL has no errors or exceptions", ERRORS),
    "as": ("conversions are a builtin", "@as(u16, x)"),
    "is": ("CSL writes `==`", "a == b"),
    "mod": ("CSL writes `%`", "a % b"),
    "div": ("CSL writes `/`", "a / b"),
    "xor": ("CSL writes `^`", "a ^ b"),
    "then": ("the branch follows the condition at once", "if (a) b else c"),
    "in": ("CSL has no `in`", LOOP),
    "if": ("the condition stands first", "if (condition) a else b"),
}
"""Words between two operands."""

NEED_PARENTHESES = {
    "if": ("conditions are in parentheses", "if (a < b) { … }"),
    "while": ("conditions are in parentheses", "while (i < n) : (i += 1) { … }"),
    "for": ("what `for` goes over is in parentheses, the name behind it", LOOP),
    "switch": (
        "what `switch` chooses by is in parentheses",
        "switch (x) { 1 => f(), else => g() }",
    ),
}
