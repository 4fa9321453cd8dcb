"""What numba's compiler means. From the particular to the general; messages as `gist` cuts them."""

from __future__ import annotations

from kernels.records import FailureKind

from . import names
from .call_rules import FUNCTIONS, OPERANDS
from .rules import Rule, compile_rule

_NAMES: tuple[Rule, ...] = (
    compile_rule(
        "numpy-alias",
        r"module 'numpy' has no attribute '(?P<name>int|float|bool|object|long|uint|complex|str)'",
        "np.{name} was an alias of a Python type and is gone.",
        "Write {instead}.",
        look_up=names.alias,
    ),
    compile_rule(
        "misspelt",
        r"module '(?P<owner>numpy|numba|math|szstream)' has no attribute '(?P<name>\w+)'",
        "{owner} has no {name}.",
        "The nearest that exists and compiles is {nearest}.",
        look_up=names.nearest_in_numba,
    ),
    compile_rule(
        "ufunc-method",
        r"Unknown attribute '(?P<name>reduce\w*|accumulate|at)' of type (?P<owner>np\.\w+)",
        "Methods of {owner}, like {name}, are not compiled.",
        "Write the loop: acc = x[0], then acc = acc | x[i], or max(acc, x[i]).",
    ),
    compile_rule(
        "bit-length",
        r"Unknown attribute '(?P<name>bit_length|bit_count|to_bytes|from_bytes)'",
        "Compiled integers have no {name}.",
        "Bit length: r = 0; while v: v >>= 1; r += 1 (v unsigned). Bytes: arr.view(np.uint8).",
    ),
    compile_rule(
        "python-module",
        r"Unknown attribute '(?P<name>\w+)' of type module (?P<owner>[\w.]+)",
        "{owner}.{name} is not compiled: of modules, numba knows numpy, math and little else.",
        "Call {owner}.{name} in Python, before or after the compiled function.",
    ),
    compile_rule(
        "text-method",
        r"Unknown attribute '(?P<name>\w+)' of type ('|str|bytes)",
        "Methods of text such as {name} are not compiled.",
        "Keep text and bytes outside @njit; inside, work on uint8 arrays.",
    ),
    compile_rule(
        "misspelt-method",
        r"Unknown attribute '(?P<name>\w+)' of type (?P<owner>.*array)",
        "An array has no {name} in compiled code.",
        "The nearest that exists there is {nearest}.",
        look_up=names.nearest_in_numba,
    ),
    compile_rule(
        "unknown-attribute",
        r"Unknown attribute|module '[\w.]+' has no attribute",
        "This attribute or method does not exist, or is not compiled.",
        "Use another one, write the loop out, or do it in Python, outside @njit.",
    ),
    compile_rule(
        "signature-type",
        r"name '(?P<name>\w+)' is not defined",
        "The signature in the decorator names a type that does not exist: {name}.",
        "Leave the signature out, @njit alone: numba then compiles for what it is given.",
        line=r"^\s*@.*\(",
    ),
    compile_rule(
        "undefined-name",
        r"name '(?P<name>\w+)' is not defined",
        "Nothing is called {name} where the function is compiled.",
        "Write {instead}.",
        look_up=names.numpy_name,
    ),
    compile_rule(
        "undefined",
        r"name '(?P<name>\w+)' is not defined",
        "Nothing is called {name} here: a misspelt variable, or one that is set only further down.",
        "Define it before it is used, on every path.",
    ),
    compile_rule(
        "not-compiled",
        r"Untyped global name '(?P<name>\w+)': .*<class 'function'>",
        "Compiled code can only call compiled functions, and {name} is a Python function.",
        "Put @njit above {name} too, or call it outside.",
    ),
    compile_rule(
        "global-class",
        r"Untyped global name '(?P<name>[A-Z]\w*)': .*<class 'type'>",
        "Objects of Python classes don't exist in compiled code.",
        "Pass the numbers that {name} would hold as separate arguments.",
    ),
    compile_rule(
        "builtin",
        r"Untyped global name '(?P<name>\w+)': .*<class '(type|builtin_function_or_method)'>",
        "numba does not compile {name}.",
        "Use arrays and arithmetic instead (np.empty(n, np.uint8) for bytearray, shifts for bin), "
        "or do it in Python, outside @njit.",
    ),
    compile_rule(
        "global-container",
        r"Untyped global name '(?P<name>\w+)'|list of \w+ type, assigned to variable '\w+' in glob",
        "A compiled function can't use this global: numba takes constant numbers, tuples and "
        "arrays, not dicts, lists or modules it does not know.",
        "Make it np.array(…), which is then a constant, or pass it as an argument.",
    ),
)

_TYPES: tuple[Rule, ...] = (
    compile_rule(
        "growing-tuple",
        r"Cannot unify .*tuple .*for '(?P<name>\w+)'",
        "`{name}` is a tuple whose length changes: in compiled code the length is part of the "
        "type.",
        "Use an array, allocated once, for what grows in a loop.",
    ),
    compile_rule(
        "number-or-array",
        r"Cannot unify (-?\w+ and \d-D \w+ arr|\d-D \w+ arr.*? and -?[\w.]+ for).*'(?P<name>\w+)'",
        "`{name}` is a number on one path and an array on another.",
        "Use two variables, or begin with an array: np.zeros(n, dtype).",
    ),
    compile_rule(
        "dimensions-change",
        r"Cannot unify (?P<a>\d)-D (\w+) array.* and (?!(?P=a)-D)\d-D .*'(?P<name>\w+)'",
        "`{name}` has another number of dimensions on another path.",
        "Flatten under a new name: flat = x.reshape(-1).",
    ),
    compile_rule(
        "dtypes-change",
        r"Cannot unify \d-D \w+ array.* and \d-D .*'(?P<name>\w+)'",
        "`{name}` is an array of one type on one path and of another on another path.",
        "Create it with the same dtype, and layout, on every path.",
    ),
    compile_rule(
        "unify",
        r"Cannot unify (?P<a>.*) and (?P<b>.*) for '(?P<name>\w+)'",
        "`{name}` is {a} on one path and {b} on another.",
        "Give it one type from the start, for example np.float32(0) or np.int64(0), and cast where "
        "it is set.",
    ),
    compile_rule(
        "return-types",
        r"unify return type from the following types: (?P<types>.*)",
        "The function returns different types on different paths: {types}.",
        "Return the same type everywhere: an empty array, np.empty(0, np.uint8), for 'nothing'.",
    ),
    compile_rule(
        "empty-list",
        r"list of undefined",
        "A list that never gets an element has no type.",
        "Use an array and a count: out = np.empty(n, dtype); out[k] = v; k += 1.",
    ),
    compile_rule(
        "nested-list",
        r"reflect(ed)? (element|container)|list of list",
        "Lists of lists can't be passed to compiled code.",
        "Pass one 2-D array, or a flat one with offsets.",
    ),
    compile_rule(
        "argument-type",
        r"argument (?P<number>\d+): [Cc]annot determine Numba type of <class '(?P<given>[\w.]+)'>",
        "Argument {number} of a compiled function is a Python {given}.",
        "Pass numbers, tuples and arrays only; take a {given} apart before the call.",
    ),
    compile_rule(
        "signature",
        r"No matching definition for argument type\(s\) (?P<given>.*)",
        "The signature written in the decorator does not fit the call ({given}).",
        "Leave the signature out, @njit alone: numba then compiles for what it is given.",
    ),
    compile_rule(
        "signature-result",
        r"No conversion from (?P<given>.*) to (?P<asked>.*)",
        "The decorator promises {asked}, but the function returns {given}.",
        "Leave the signature out, @njit alone.",
    ),
    compile_rule(
        "option",
        r"Unrecognized options: \{{?'(?P<name>\w+)'\}}?; known are (?P<known>.*?)\"?$",
        "@njit has no option {name}.",
        "The nearest that exists is {nearest}.",
        look_up=names.nearest_option,
    ),
    compile_rule(
        "half",
        r"NotImplementedError: float16",
        "numba does not compute with float16.",
        "Use float32, or keep the 16 bits as np.uint16.",
    ),
)

_LANGUAGE: tuple[Rule, ...] = (
    compile_rule(
        "recursion",
        r"recursion",
        "A compiled function that calls itself needs a path that returns without the call, before "
        "it.",
        "Write a loop.",
    ),
    compile_rule(
        "closure",
        r"Cannot capture|function that may escape|closure.*(escape|free)",
        "A function inside a compiled function uses its variables and lives on after it.",
        "Move it to the top level, with @njit, and pass what it needs as arguments.",
    ),
    compile_rule(
        "generator",
        r"yield in a closure|GET_YIELD_FROM_ITER|generator",
        "Generator expressions and yield from are not compiled.",
        "Write a for loop that adds up, or fills an array.",
    ),
    compile_rule(
        "context-manager",
        r"with \(context manager\)|context manager",
        "`with` is not compiled: there are no files or locks in compiled code.",
        "Open files nowhere (a kernel sees none); do the rest in Python, outside @njit.",
    ),
    compile_rule(
        "object-mode",
        r"[Mm]issing type annotation on outgoing variable",
        "What leaves an objmode block needs its type.",
        "with numba.objmode(y='float32[:]'): …; better, do that part before or after the compiled "
        "function: objmode is slow.",
    ),
    compile_rule(
        "import-inside",
        r"IMPORT_NAME|IMPORT_FROM",
        "An import inside a compiled function is not compiled.",
        "Import at the top of the file.",
    ),
    compile_rule(
        "class-inside",
        r"LOAD_BUILD_CLASS",
        "Classes can't be defined in compiled code.",
        "Use plain variables and arrays.",
    ),
    compile_rule(
        "global-written",
        r"STORE_GLOBAL",
        "Compiled code can't set a global.",
        "Return the value; state between calls is not allowed anyway.",
    ),
    compile_rule(
        "keywords-unpacked",
        r"DICT_MERGE|DICT_UPDATE|expected a type instance, got \{",
        "**keywords are not compiled, neither in calls nor in definitions.",
        "Name the arguments one by one.",
    ),
    compile_rule(
        "opcode",
        r"unsupported opcode|UnsupportedBytecodeError",
        "This part of the language is not compiled.",
        "Write it with plain variables, arrays, if, for and while.",
    ),
    compile_rule(
        "prange-step",
        r"step size of 1 is supported for prange",
        "prange counts by 1 only.",
        "for b in prange(blocks): i = b * step.",
    ),
    compile_rule(
        "assertion-keyword",
        r"AssertionError",
        "numba's compiler gave up on this line: its version of the call does not take this "
        "{keyword}=.",
        "Leave {keyword}= out.",
        line=r"(?P<keyword>copy|strict|order|casting)\s*=",
    ),
    compile_rule(
        "boolean-mask",
        r"AssertionError",
        "numba's compiler gave up on this line: a mask can only index a 1-D array.",
        "Take flat = x.reshape(-1) first, or write a loop with an if.",
        line=r"\[[^\[\]]*[<>=!]=?[^\[\]]*\]|\[~?\w*mask\w*\]",
    ),
    compile_rule(
        "shared-list",
        r"AssertionError",
        "numba's compiler gave up on a parallel loop: usually one that appends to a list, which "
        "threads can't share.",
        "Write into an array at an index that depends on the loop variable alone.",
        line=r"prange",
    ),
    compile_rule(
        "assertion",
        r"AssertionError",
        "numba's compiler gave up on this line without saying why.",
        "Write it more plainly: no del, no keyword arguments, one operation per line.",
    ),
    compile_rule(
        "undetermined",
        r"cannot be determined|[Cc]annot infer|imprecise",
        "numba could not find the type of what this line computes.",
        "Set variables before the loop or the condition, with a type: n = np.int64(0).",
    ),
    compile_rule(
        "compiler",
        r"^(?!TypingError)\w+(Error|Exception)",
        "numba's compiler failed on this line; it is a use that it does not foresee.",
        "Write it more plainly: typed scalars, arrays, loops, one operation per line.",
    ),
    compile_rule(
        "typing",
        "",
        "numba could not infer the types of a compiled function.",
        "Look at the line shown; reduce it to typed scalars, arrays and loops.",
    ),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "syntax",
        frozenset({FailureKind.SYNTAX}),
        "",
        "The source does not parse as Python.",
        "Fix the line shown; nothing after it was looked at.",
    ),
    *OPERANDS,
    *FUNCTIONS,
    *_NAMES,
    *_TYPES,
    *_LANGUAGE,
)
