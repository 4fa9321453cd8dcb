"""Steps on 32 lanes at once, as LLVM vectors: what no loop compiles to.

A comparison of 32 lanes *is* a 32-bit word (one bit plane), a 32-bit word *is* a lane mask, and a
shuffle moves lanes for a running sum. LLVM maps the vectors to whatever the CPU has. No operation
carries a fast-math flag, so nothing is fused and the bound's check means what it says.

Each function is called from @njit code. An array and an index say where 32 values start, and
nothing checks that they are inside. Arguments with an underscore matter only to the generated code.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 32
GROUP = 8
"""Planes that are read or written together: the bits of a byte."""

_BIT, _I8, _I16, _I32, _I64 = (ir.IntType(width) for width in (1, 8, 16, 32, 64))
_ZERO = _I64(0)


def _vector(element):
    return ir.VectorType(element, BLOCK)


def _all(element, value):
    return ir.Constant(_vector(element), [value] * BLOCK)


def _order(indices):
    return ir.Constant(_vector(_I32), list(indices))


def _splat(builder, scalar):
    undefined = ir.Constant(_vector(scalar.type), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _I32(0))
    return builder.shuffle_vector(first, undefined, _order([0] * BLOCK))


def _mask(builder, word):
    return builder.bitcast(word, _vector(_BIT))


class _Lanes:
    """Loads and stores of 32 values of a NumPy array that a function was given."""

    def __init__(self, context, builder, array_type, array):
        self._builder = builder
        self._data = context.make_array(array_type)(context, builder, array).data
        self._element = context.get_data_type(array_type.dtype)
        self._align = array_type.dtype.bitwidth // 8

    def pointer(self, index, kind):
        return self._builder.bitcast(self._builder.gep(self._data, [index]), kind.as_pointer())

    def load(self, index):
        pointer = self.pointer(index, _vector(self._element))
        return self._builder.load(pointer, align=self._align)

    def store(self, index, value):
        self._builder.store(value, self.pointer(index, value.type), align=self._align)


def _call(builder, name, result, *args):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@intrinsic
def quantise(_typing, x, _index, q, _r, _s, _tolerance):
    """Quantise x[index:] into q; bit i of the result says that element i keeps the bound.

    x·r plus the magic number, minus it, is x·r rounded to an integer; the sum's low bits are that
    integer. |integer| < limit implies |x·r| < limit, because rounding is monotonic. NaN and Inf
    fail the ordered comparisons.
    """
    single = x.dtype == types.float32
    magic, low_bits, limit = (
        (12582912.0, 0x4B400000, 2.0**22) if single else (1.5 * 2**52, 0, 2.0**30)
    )
    fabs = "llvm.fabs.v32f32" if single else "llvm.fabs.v32f64"

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(args[1])
        scale, step, allowed = (_splat(builder, arg) for arg in args[3:])
        element = value.type.element
        shifted = builder.fadd(builder.fmul(value, scale), _all(element, magic))
        rounded = builder.fsub(shifted, _all(element, magic))
        error = builder.fsub(value, builder.fmul(rounded, step))
        size = _call(builder, fabs, value.type, rounded)
        miss = _call(builder, fabs, value.type, error)
        small = builder.fcmp_ordered("<", size, _all(element, limit))
        keeps = builder.and_(small, builder.fcmp_ordered("<=", miss, allowed))
        bits = builder.bitcast(shifted, _vector(_I32 if single else _I64))
        low = bits if single else builder.trunc(bits, _vector(_I32))
        out = _Lanes(context, builder, sig.args[2], args[2])
        out.store(_ZERO, builder.sub(low, _all(_I32, low_bits)))
        return builder.bitcast(keeps, _I32)

    return types.uint32(x, types.int64, q, x.dtype, x.dtype, x.dtype), codegen


@intrinsic
def equal(_typing, bits, _index, _pattern):
    """Bit i says that bits[index + i] is the pattern."""

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(args[1])
        return builder.bitcast(builder.icmp_unsigned("==", value, _splat(builder, args[2])), _I32)

    return types.uint32(bits, types.int64, bits.dtype), codegen


@intrinsic
def split(_typing, q, _previous, magnitude, words, _index):
    """Differences of q: signs to words[index], planes 0…7 after it, sizes to `magnitude`.

    The result is the OR of the sizes. Planes above its highest bit are zero words.
    """

    def codegen(context, builder, sig, args):
        current = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        one_later = _order([0, *range(BLOCK, 2 * BLOCK - 1)])
        before = builder.shuffle_vector(_splat(builder, args[1]), current, one_later)
        difference = builder.sub(current, before)
        negative = builder.icmp_signed("<", difference, _all(_I32, 0))
        size = builder.select(negative, builder.neg(difference), difference)
        _Lanes(context, builder, sig.args[2], args[2]).store(_ZERO, size)
        low = builder.trunc(size, _vector(_I8))
        planes = [negative]
        for k in range(GROUP):
            bit = builder.and_(low, _all(_I8, 1 << k))
            planes.append(builder.icmp_unsigned("!=", bit, _all(_I8, 0)))
        out = _Lanes(context, builder, sig.args[3], args[3])
        for k, plane in enumerate(planes):
            out.store(builder.add(args[4], _I64(k)), builder.bitcast(plane, _I32))
        return _call(builder, "llvm.vector.reduce.or.v32i32", _I32, size)

    return types.uint32(q, types.int32, magnitude, words, types.int64), codegen


@intrinsic
def plane(_typing, magnitude, _bit):
    """Bit i says that magnitude[i] has the bit."""

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        has = builder.and_(value, _splat(builder, args[1]))
        return builder.bitcast(builder.icmp_unsigned("!=", has, _all(_I32, 0)), _I32)

    return types.uint32(magnitude, types.uint32), codegen


def _byte(builder, planes, index):
    """Eight planes from words[index:] as a byte per lane."""
    byte = _all(_I8, 0)
    for k in range(GROUP):
        word = builder.load(planes.pointer(builder.add(index, _I64(k)), _I32), align=4)
        bit = builder.select(_mask(builder, word), _all(_I8, 1 << k), _all(_I8, 0))
        byte = builder.or_(byte, bit)
    return byte


def _summed(builder, size, signs, holes, previous, step, out, index):
    """Running sum of the signed differences, times step, to out[index:]; returns the last q."""
    zero = _all(size.type.element, 0)
    size = builder.select(_mask(builder, holes), zero, size)
    total = builder.select(_mask(builder, signs), builder.neg(size), size)
    for shift in (1, 2, 4, 8, 16):
        later = _order([*range(shift), *range(BLOCK, 2 * BLOCK - shift)])
        total = builder.add(total, builder.shuffle_vector(zero, total, later))
    if size.type.element != _I32:
        total = builder.sext(total, _vector(_I32))
    factor = _splat(builder, step)
    q = builder.add(total, _splat(builder, previous))
    out.store(index, builder.fmul(builder.sitofp(q, factor.type), factor))
    # Added as a scalar: the next block waits for this sum alone, not for the vectors.
    return builder.add(previous, builder.extract_element(total, _I32(BLOCK - 1)))


@intrinsic
def restore_narrow(_typing, words, _at, _keep, _signs, _holes, _previous, _step, out, _index):
    """Up to eight planes of words[at:] to values in out[index:]; returns the last q.

    `keep` has a bit for each plane; what lies behind them belongs to the next block. Sums inside a
    block have 16 bits, which is enough for 32 differences below 2⁸.
    """

    def codegen(context, builder, sig, args):
        byte = _byte(builder, _Lanes(context, builder, sig.args[0], args[0]), args[1])
        keep = _splat(builder, builder.trunc(args[2], _I8))
        size = builder.zext(builder.and_(byte, keep), _vector(_I16))
        target = _Lanes(context, builder, sig.args[7], args[7])
        return _summed(builder, size, *args[3:7], target, args[8])

    bits = (types.uint32, types.uint32, types.uint32)
    signature = types.int32(words, types.int64, *bits, types.int32, out.dtype, out, types.int64)
    return signature, codegen


@intrinsic
def join(_typing, words, _index, _up, magnitude):
    """Eight planes from words[index:] make one byte more of the magnitudes, `up` bits up."""

    def codegen(context, builder, sig, args):
        byte = _byte(builder, _Lanes(context, builder, sig.args[0], args[0]), args[1])
        moved = builder.shl(builder.zext(byte, _vector(_I32)), _splat(builder, args[2]))
        out = _Lanes(context, builder, sig.args[3], args[3])
        out.store(_ZERO, builder.or_(out.load(_ZERO), moved))
        return context.get_dummy_value()

    return types.void(words, types.int64, types.uint32, magnitude), codegen


@intrinsic
def restore(_typing, magnitude, _signs, _holes, _previous, _step, out, _index):
    """Running sum of the signed differences, times step, to out[index:]; returns the last q."""

    def codegen(context, builder, sig, args):
        size = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        target = _Lanes(context, builder, sig.args[5], args[5])
        return _summed(builder, size, *args[1:5], target, args[6])

    words = (types.uint32, types.uint32)
    signature = types.int32(magnitude, *words, types.int32, out.dtype, out, types.int64)
    return signature, codegen


@intrinsic
def bit_length(_typing, _word):
    """Position of the highest set bit, from 1; 0 if there is none."""

    def codegen(_context, builder, _sig, args):
        return builder.zext(builder.sub(_I32(32), builder.ctlz(args[0], _BIT(0))), _I64)

    return types.int64(types.uint32), codegen


@intrinsic
def first_clear(_typing, _word):
    """Position of the lowest clear bit; 32 if there is none."""

    def codegen(_context, builder, _sig, args):
        return builder.zext(builder.cttz(builder.not_(args[0]), _BIT(0)), _I64)

    return types.int64(types.uint32), codegen
