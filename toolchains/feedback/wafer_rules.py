"""What the CSL compiler, the wafer's machine and the check of copied words mean; what to change."""

from __future__ import annotations

from kernels.records import FailureKind

from .rules import Rule

_ANY = frozenset({FailureKind.COMPILE, FailureKind.EXCEPTION})
"""Programs are compiled and run when the host part asks: either shows as its exception."""
_RUN = frozenset({FailureKind.EXCEPTION})
_JUDGED = frozenset({FailureKind.INTEGRITY})
_TIME = frozenset({FailureKind.TIMEOUT, FailureKind.EXCEPTION})


def _coded(code: str, explanation: str, suggestion: str) -> Rule:
    """About a diagnostic of the compiler by its stable code."""
    return Rule(f"csl-{code}", _ANY, rf"\[{code}\]", explanation, suggestion)


def _said(name: str, pattern: str, explanation: str, suggestion: str) -> Rule:
    """About what the machine or the SDK says while it runs."""
    return Rule(name, _RUN, pattern, explanation, suggestion)


_COMPILER = (
    _coded(
        "out-of-memory",
        "A PE has 48 KB for code, variables and the runtime together.",
        "Make the arrays smaller, work in place, or give each PE a smaller piece and use more PEs.",
    ),
    _coded(
        "unknown-builtin",
        "CSL has a fixed set of builtins, and none of this name.",
        "Take the one that the hint names; there is no printf, intCast or array view.",
    ),
    _coded(
        "foreign-syntax",
        "This is written as in another language.",
        "CSL: `fn f(x: f32) f32 {{ … }}`, `for (@range(u16, n)) |i| {{ … }}`, // comments only.",
    ),
    _coded(
        "mixed-types",
        "CSL never converts between number types by itself.",
        "Convert one side with @as(T, x); @bitcast keeps the bits.",
    ),
    _coded(
        "type-mismatch",
        "The value has another type than its place.",
        "Convert it with @as(T, x), or declare the variable with the value's type.",
    ),
    _coded(
        "not-comptime",
        "This has to be known when the program is compiled, and depends on a variable.",
        "Use a param, a const or a comptime argument; at run time change a DSD with "
        "@set_dsd_length, @increment_dsd_offset, @set_dsd_base_addr.",
    ),
    _coded(
        "comptime-only",
        "A value of this type exists only while compiling.",
        "Give it a type of run time: @as(u16, 5) instead of a bare 5 in a variable.",
    ),
    _coded(
        "out-of-bounds",
        "An index or a DSD reaches beyond its array.",
        "Make the extent and the strides fit the array; elements count from 0.",
    ),
    _coded(
        "unbound-task",
        "A task id is activated, but no task is bound to it: nothing would ever run.",
        "In a comptime block: @bind_local_task(task, id).",
    ),
    _coded(
        "queue-clash",
        "Two users share a queue; 0 and 1 are those of <memcpy>.",
        "Give every colour an input and an output queue of its own, from 2 on.",
    ),
    _coded(
        "reserved-color",
        "This colour belongs to the runtime.",
        "Take one of those that the hint lists, such as 0 to 20.",
    ),
    _coded(
        "reserved-id",
        "This task id belongs to the runtime.",
        "Take another id for the local task, such as 8 to 20.",
    ),
    _coded(
        "several-rx",
        "A colour can be received from one direction at a PE.",
        "Use a second colour, or alternate two colours from PE to PE.",
    ),
    _coded(
        "missing-param",
        "The file declares a param that @set_tile_code does not give.",
        'Add it to the struct: @set_tile_code(x, y, "pe.csl", .{{ .name = value }}).',
    ),
    _coded(
        "unknown-param",
        "A value is given for a param that the file does not declare.",
        "Declare `param name: type;` in the file, or drop the value.",
    ),
    _coded(
        "bad-export",
        "What is exported and what layout.csl announces by @export_name differ.",
        'Names and types must agree: @export_name("v", [*]f32, true) and a '
        '`const p: [*]f32 = &v;` with @export_symbol(p, "v").',
    ),
    _coded(
        "not-exported",
        "layout.csl announces a symbol that no PE exports.",
        '@export_symbol(pointer or function, "name") in a comptime block of the PE\'s code.',
    ),
    _coded(
        "tensor-access",
        "A DSD's tensor_access is an affine map to elements of one array.",
        "Write |i|{{n}} -> a[2 * i + 1] for mem1d, |i, j|{{n, m}} -> a[i * m + j] for mem4d.",
    ),
    _coded(
        "operand",
        "This operation does not take such an operand in this place.",
        "See the form in the hint; scalars need a type (@as(u16, 7)) and mostly come last.",
    ),
    _coded(
        "async-operands",
        "Only operations with a fabric DSD or a FIFO run beside the program.",
        "Drop .async for operations on memory: they are done when the next line runs.",
    ),
    _coded(
        "bad-completion",
        ".activate and .unblock take the id of a local task.",
        "Bind the task to an id and give the id: .{{ .async = true, .activate = id }}.",
    ),
    _coded(
        "builtin-context",
        "This builtin belongs in another part of a program.",
        "Layout builtins go in `layout {{ }}`, binding and exporting in `comptime {{ }}`, "
        "operations in functions and tasks.",
    ),
    _coded(
        "undefined-name",
        "Nothing of this name is declared here.",
        "Declare it, or take it from its module: const sys = @import_module(…); sys.name.",
    ),
    _coded(
        "assign-const",
        "A const, a param and a loop's capture keep their values.",
        "Declare it with var, or copy it to a variable.",
    ),
    _coded(
        "shift-amount",
        "A shift by as many bits as the type has, or more, is none.",
        "Shift by less than the width; treat that case on its own.",
    ),
    _coded(
        "missing-semicolon",
        "A statement ends with a semicolon in CSL.",
        "Put ; at the end of the line before.",
    ),
    _coded(
        "unknown-library",
        "There is no such library.",
        "Libraries: <memcpy/get_params>, <memcpy/memcpy>, <time>, <math>, <layout>, <control>.",
    ),
)
_MACHINE = (
    _said(
        "wafer-never-unblocked",
        r"did not call unblock_cmd_stream\(\)",
        "The host's next command waits until every PE has let the command stream go on.",
        "Reach sys.unblock_cmd_stream() on the PEs that are named: at borders too, and in the "
        "task that comes last.",
    ),
    _said(
        "wafer-deadlock",
        r"wait for each other:|A PE waits for itself:",
        "PEs wait for each other in a circle: none can go on.",
        "Let receives run asynchronously before the sends, send as many wavelets as are "
        "received, and alternate two colours in chains.",
    ),
    _said(
        "wafer-index",
        r"index (?P<at>\d+) is outside an array of (?P<of>\d+) elements",
        "Element {at} of an array of {of} was asked for.",
        "Bound the loop by the array, and think of the last, shorter piece.",
    ),
    _said(
        "wafer-dsd-range",
        r"a DSD goes from byte \d+ to byte \d+",
        "A DSD, after its offset and length were changed, leaves its variable.",
        "@increment_dsd_offset adds to the offset that is there: begin each round with the "
        "original DSD, and keep offset + length within the array.",
    ),
    _said(
        "wafer-runaway",
        r"instructions without an end|the limit of \d+ cycles was reached",
        "The program does not come to an end.",
        "Look at the loop's condition: a u16 counter that goes down never is below 0.",
    ),
    _said(
        "wafer-divide",
        r"division by zero",
        "A division by zero ends the program.",
        "Test the divisor; an empty piece has a count of 0.",
    ),
    _said(
        "wafer-busy",
        r"still runs an operation when another starts|is in use by another operation",
        "An asynchronous operation still runs on this queue or microthread.",
        "Start the next in the task that .activate names, or use another queue.",
    ),
    _said(
        "wafer-no-symbol",
        r"the program exports no \"|there is no symbol \d|no function \".*\" to launch"
        r"|is not exported:",
        "The program does not export what the host asks for.",
        "Export it twice: @export_name in layout.csl, @export_symbol in the PE's code.",
    ),
    _said(
        "wafer-elements",
        r"the array has (?P<has>\d+) elements, (?:not|but .* take) (?P<wants>\d+)",
        "A copy takes height × width × elements per PE: {wants}, and the array has {has}.",
        "Pad it with zeros to whole rectangles, and flatten it.",
    ),
    _said(
        "wafer-element-type",
        r"elements of 16 or 32 bits are needed|an array of 32-bit elements is needed",
        "Words of a wafer have 32 or 16 bits.",
        "Use float32, int32 or uint32; .view(np.uint32) keeps bytes as they are.",
    ),
    _said(
        "wafer-order-of-calls",
        r"comes after load\(\)|after stop\(\)",
        "The runtime is asked for something out of turn.",
        "load(), run(), copies and launches, stop(); after stop() make a new SdkRuntime.",
    ),
    _said(
        "wafer-launch-argument",
        r"an argument of a launch is a NumPy scalar|with \d+ arguments?, not \d+"
        r"|numpy\.\w+ is needed, not numpy\.|argument .* does not fit ",
        "Launches take numbers of a type that the function declares.",
        "np.float32(x), np.uint16(n), np.int32(k), in the order of the function's arguments.",
    ),
    Rule(
        "wafer-slow",
        _TIME,
        r"the simulation of one request took more than",
        "One launch was too long for the simulation.",
        "Give a launch less: fewer PEs at once, or fewer values each, and more launches.",
    ),
)
_FLOW = (
    Rule(
        "wafer-host-sends",
        _JUDGED,
        r"copied to the device are none that the call was given",
        "The host part computed something and sent it: that is the device's part.",
        "Send the call's own words, reshaped and padded with zeros, and compute in CSL.",
    ),
    Rule(
        "wafer-host-returns",
        _JUDGED,
        r"returned did not come back from the device",
        "The host part returns words that the device did not give it.",
        "Copy the results back with memcpy_d2h, and return those words, each once.",
    ),
    Rule(
        "wafer-order",
        _JUDGED,
        r"follow each other in another order",
        "The order of words was chosen by their values: choosing is computing.",
        "Move whole pieces whose place depends on the shape; sort and select in CSL.",
    ),
    Rule(
        "wafer-arguments",
        _JUDGED,
        r"launches and options carried",
        "Arguments of launches and parameters of programs are for settings, not for data.",
        "Send data with memcpy_h2d; compile once, and launch with a few numbers.",
    ),
)
RULES: tuple[Rule, ...] = (*_MACHINE, *_FLOW, *_COMPILER)
