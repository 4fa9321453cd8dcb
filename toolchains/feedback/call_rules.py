"""Operators and functions that numba has no version of for the types that it was given."""

from __future__ import annotations

from . import names
from .rules import Rule, compile_rule

OPERANDS: tuple[Rule, ...] = (
    compile_rule(
        "float-bits",
        r"no `(a |~a)(?P<sign><<|>>|&|\||\^|)=?( b)?` for (a: float64|a: .*, b: float64$)",
        "Bits of a float64 are asked for. An integer became float64 on the way: int64 mixed with "
        "uint64 gives float64 in numba, and so does /.",
        "Keep every operand of one kind: np.uint64(i) for counters, np.uint64(1) << np.uint64(k); "
        "divide integers with //.",
    ),
    compile_rule(
        "bits-of-floats",
        r"no `(a |~a)(<<|>>|&|\||\^|)=?( b)?` for .*float(32|64)",
        "Shifts and masks work on integers, and this is floating-point data.",
        "Look at the same bytes as integers: x.view(np.uint32) for float32, np.uint64 for float64.",
    ),
    compile_rule(
        "read-only",
        r"Cannot modify readonly|for a: (read-only|bytes)",
        "This array can't be written: arrays that are global, or made by np.frombuffer, and bytes "
        "are read-only in compiled code.",
        "Pass the array as an argument, or write into a copy: a = a.copy().",
    ),
    compile_rule(
        "value-missing",
        r"no `[^`]+` for (a: None|.*[ib]: None)",
        "One side is None: a function that returns nothing, or not on every path, or an argument "
        "that is None.",
        "Add the return statement, or give the argument a number.",
    ),
    compile_rule(
        "text-into-array",
        r"no `a\[i\] = b` for a: .*array.*b: ('|str|bytes)",
        "Text or bytes can't be stored into an array of numbers in compiled code.",
        "Store numbers: np.uint8(83) for 'S'; or build headers outside @njit with szstream.header.",
    ),
    compile_rule(
        "float-index",
        r"no `a\[i\]( = b)?` for .*\bi: float|[Uu]nsupported array index type float",
        "An index is a float: / gives a float even of integers.",
        "Use // for block counts and offsets, or np.int64(v) once.",
    ),
    compile_rule(
        "array-into-element",
        r"no `a\[i\] = b` for a: (?P<into>1-D \w+ array).*, i: .*, b: (?P<given>\d-D \w+ array)",
        "A whole {given} is assigned where one element of a {into} is written: with one index, an "
        "array of 2 or 3 dimensions gives a row or a plane, not a number.",
        "Make the data flat first, flat = x.reshape(-1), and loop over flat; or index every "
        "dimension, x[i, j, k].",
    ),
    compile_rule(
        "wrong-element",
        r"no `a\[i\] = b` for a: (?P<into>.*), i: (?P<at>.*), b: (?P<given>[^;]*)",
        "What is stored, {given}, does not fit an element of {into} at index {at}.",
        "Store one number of the array's dtype per element: out[i] = np.uint8(v).",
    ),
    compile_rule(
        "too-many-indices",
        r"cannot index (?P<of>.*?) with (?P<count>\d+) indices",
        "A {of} is indexed with {count} indices, more than it has dimensions.",
        "Index as many dimensions as it has; flatten with reshape(-1) to write one loop for all.",
    ),
    compile_rule(
        "tuple-index",
        r"no `a\[i\]` for a: tuple\(",
        "Elements of this tuple have different types, so it can only be indexed by constants.",
        "Unpack it, a, b, c = t, or make it an array.",
    ),
    compile_rule(
        "not-an-array",
        r"no `a\[i\]` for a: (?P<of>(int|uint|float)\d+)",
        "A number of type {of} is indexed as if it were an array.",
        "Look at where it was set: one index too many was taken, or a scalar was passed.",
    ),
    compile_rule(
        "text-formatting",
        r"no `a % b` for a: '|format spec in f-strings|print\(\) function implementation",
        "Compiled code can't format text.",
        "Raise with a constant message, and print from Python, outside @njit.",
    ),
    compile_rule(
        "operands",
        r"no `(?P<form>[^`]+)` for (?P<operands>.*)",
        "numba has no {form} for these types ({operands}).",
        "Convert both sides to one numeric type first, or loop over the elements.",
    ),
)

FUNCTIONS: tuple[Rule, ...] = (
    compile_rule(
        "float-shape",
        r"no version of (?P<name>zeros|ones|empty|full)\((tuple of \d × )?float",
        "A length is a float: / gives a float even of integers.",
        "Use //, rounded up where blocks are counted: (n + 31) // 32.",
    ),
    compile_rule(
        "dtype-text",
        r"dtype is a string it must be a string constant|no version of array\.(view|astype)\('",
        "A dtype is given as text, which numba takes from a constant in few places only.",
        "Write the type itself: np.uint8, np.float32, or x.dtype.",
    ),
    compile_rule(
        "keyword",
        r"no version of (?P<name>[\w.]+)\(.*unexpected keyword argument '(?P<keyword>\w+)'",
        "numba's {name} does not take {keyword}=; its versions of NumPy functions take fewer "
        "arguments than NumPy's.",
        "In its place: {instead}.",
        look_up=names.instead_of_keyword,
    ),
    compile_rule(
        "keyword-unknown",
        r"unexpected keyword argument '(?P<keyword>\w+)'|unsupported keyword arguments",
        "numba's version of this function does not take that keyword argument.",
        "Leave it out and do that part in a loop, or call the function in Python, outside @njit.",
    ),
    compile_rule(
        "concatenate-list",
        r"no version of (concatenate|hstack|vstack|stack)\((list|tuple)",
        "numba joins a tuple of arrays of the same kind and number of dimensions, not a list, nor "
        "numbers.",
        "Allocate the result once and copy: out[a:b] = part; or pass (x, y) with equal dtypes.",
    ),
    compile_rule(
        "array-of-arrays",
        r"no version of array\(.*array|not allowed in a homogeneous sequence",
        "np.array of arrays is not compiled; it takes nested lists of numbers.",
        "Allocate np.empty((rows, columns), dtype) and fill it row by row.",
    ),
    compile_rule(
        "array-view",
        r"no version of array\.view\(",
        "view takes one NumPy type in compiled code.",
        "x.view(np.uint8) on a contiguous array; make it flat with reshape(-1) first.",
    ),
    compile_rule(
        "reshape",
        r"no version of array\.reshape\(|reshape\(\) supports contiguous",
        "reshape takes integers, or one tuple of them, and only contiguous arrays: a slice with a "
        "step, or a column, is not.",
        "np.ascontiguousarray(part).reshape(n), with numbers or a tuple instead of a list.",
    ),
    compile_rule(
        "type-test",
        r"no version of type\(|numpy\.ndarray'",
        "Types are fixed when numba compiles, so asking for them is not compiled.",
        "Test dtype and ndim in Python, before calling the compiled function.",
    ),
    compile_rule(
        "except",
        r"exception_match|Exception object cannot be stored",
        "Compiled code knows only a bare except, and never the exception itself.",
        "Test for what could go wrong before it does; catch exceptions in Python, outside @njit.",
    ),
    compile_rule(
        "conversion",
        r"no version of u?(int|float)\d+\(|[Cc]asting .* directly is unsupported",
        "Text is converted to a number in compiled code.",
        "Write the number, or convert in Python and pass it as an argument.",
    ),
    compile_rule(
        "numpy-instead",
        r"unsupported NumPy function 'numpy\.(?P<name>[\w.]+)'",
        "numba does not compile np.{name}.",
        "Instead: {instead}. Or call np.{name} in Python, outside @njit.",
        look_up=names.instead_of_function,
    ),
    compile_rule(
        "numpy-unsupported",
        r"unsupported NumPy function 'numpy\.(?P<name>[\w.]+)'",
        "numba does not compile np.{name}, or not with these arguments.",
        "Write the loop out (compiled loops are as fast), or call it in Python, outside @njit.",
    ),
    compile_rule(
        "arguments",
        r"missing a required argument|too many positional|got multiple values|the signature is",
        "A function is called with other arguments than it has.",
        "Compare the call with the definition; compiled functions take no **keywords.",
    ),
    compile_rule(
        "no-version",
        r"no version of (?P<name>[\w.]+)\((?P<given>.*?)\)",
        "numba has no {name} for these arguments ({given}).",
        "Use simpler arguments, write the loop out, or keep this step outside @njit.",
    ),
)
