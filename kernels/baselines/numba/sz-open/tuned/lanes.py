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


def _predict(builder, ring, places):
    """What three earlier places of the ring say of 32 values: row above + plane before − both."""
    row, plane, both = (ring.load(place) for place in places)
    return builder.sub(builder.add(row, plane), both)


@intrinsic
def split(
    _typing, q, _holes, ring, _row, _plane, _both, _previous, _place, magnitude, words, _index
):
    """Residuals of q after prediction from the ring, differences of those along the flat index.

    As zigzag numbers (so that one plane holds the signs) they go to `magnitude`, their lowest eight
    planes to words[index:]; q goes to ring[place:], in holes the prediction. Returns the OR of the
    numbers and the last residual.
    """

    def codegen(context, builder, sig, args):
        current = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        around = _Lanes(context, builder, sig.args[2], args[2])
        predicted = _predict(builder, around, args[3:6])
        around.store(args[7], builder.select(_mask(builder, args[1]), predicted, current))
        residual = builder.sub(current, predicted)
        one_later = _order([0, *range(BLOCK, 2 * BLOCK - 1)])
        before = builder.shuffle_vector(_splat(builder, args[6]), residual, one_later)
        difference = builder.sub(residual, before)
        sign = builder.ashr(difference, _all(_I32, 31))
        zigzag = builder.xor(builder.shl(difference, _all(_I32, 1)), sign)
        _Lanes(context, builder, sig.args[8], args[8]).store(_ZERO, zigzag)
        low = builder.trunc(zigzag, _vector(_I8))
        out = _Lanes(context, builder, sig.args[9], args[9])
        for k in range(GROUP):
            bit = builder.icmp_unsigned("!=", builder.and_(low, _all(_I8, 1 << k)), _all(_I8, 0))
            out.store(builder.add(args[10], _I64(k)), builder.bitcast(bit, _I32))
        top = _call(builder, "llvm.vector.reduce.or.v32i32", _I32, zigzag)
        last = builder.extract_element(residual, _I32(BLOCK - 1))
        return context.make_tuple(builder, sig.return_type, (top, last))

    places = (types.int64, types.int64, types.int64)
    last = (types.int32, types.int64)
    result = types.Tuple((types.uint32, types.int32))
    return result(q, types.uint32, ring, *places, *last, magnitude, words, types.int64), codegen


@intrinsic
def plane(_typing, magnitude, _bit):
    """Bit i says that magnitude[i] has the bit."""

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        has = builder.and_(value, _splat(builder, args[1]))
        return builder.bitcast(builder.icmp_unsigned("!=", has, _all(_I32, 0)), _I32)

    return types.uint32(magnitude, types.uint32), codegen


@intrinsic
def join(_typing, words, _index, _detail, magnitude):
    """Eight planes from words[index:] make the magnitudes' low byte, or one byte more of them.

    16-bit magnitudes are set, without the bits that `detail` lacks (planes of the next block);
    32-bit magnitudes gain the byte, `detail` bits up.
    """

    def codegen(context, builder, sig, args):
        planes = _Lanes(context, builder, sig.args[0], args[0])
        byte = _all(_I8, 0)
        for k in range(GROUP):
            word = builder.load(planes.pointer(builder.add(args[1], _I64(k)), _I32), align=4)
            bit = builder.select(_mask(builder, word), _all(_I8, 1 << k), _all(_I8, 0))
            byte = builder.or_(byte, bit)
        out = _Lanes(context, builder, sig.args[3], args[3])
        if magnitude.dtype == types.int16:
            keep = _splat(builder, builder.trunc(args[2], _I8))
            value = builder.zext(builder.and_(byte, keep), _vector(_I16))
        else:
            moved = builder.shl(builder.zext(byte, _vector(_I32)), _splat(builder, args[2]))
            value = builder.or_(out.load(_ZERO), moved)
        out.store(_ZERO, value)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.uint32, magnitude), codegen


@intrinsic
def restore(
    _typing, magnitude, _holes, ring, _row, _plane, _both, _previous, _place, _step, out, _index
):
    """The inverse of `split`: q to ring[place:], q·step to out[index:]; returns the last residual.

    Sums inside a block have the numbers' type: 16 bits are enough for 32 differences of 8 bits.
    """

    def codegen(context, builder, sig, args):
        zigzag = _Lanes(context, builder, sig.args[0], args[0]).load(_ZERO)
        element = zigzag.type.element
        zero, one = _all(element, 0), _all(element, 1)
        sign = builder.sub(zero, builder.and_(zigzag, one))
        total = builder.xor(builder.lshr(zigzag, one), sign)
        for shift in (1, 2, 4, 8, 16):
            later = _order([*range(shift), *range(BLOCK, 2 * BLOCK - shift)])
            total = builder.add(total, builder.shuffle_vector(zero, total, later))
        if magnitude.dtype == types.int16:
            total = builder.sext(total, _vector(_I32))
        around = _Lanes(context, builder, sig.args[2], args[2])
        predicted = _predict(builder, around, args[3:6])
        q = builder.add(builder.add(total, _splat(builder, args[6])), predicted)
        around.store(args[7], builder.select(_mask(builder, args[1]), predicted, q))
        factor = _splat(builder, args[8])
        value = builder.fmul(builder.sitofp(q, factor.type), factor)
        _Lanes(context, builder, sig.args[9], args[9]).store(args[10], value)
        # Added as a scalar: the next block waits for this sum alone, not for the vectors.
        return builder.add(args[6], builder.extract_element(total, _I32(BLOCK - 1)))

    places = (types.int64, types.int64, types.int64, types.int32, types.int64)
    signature = types.int32(magnitude, types.uint32, ring, *places, out.dtype, out, types.int64)
    return signature, codegen


@intrinsic
def extrapolate(_typing, ring, _row, _plane, _both, _place):
    """The prediction for 32 holes goes to ring[place:]."""

    def codegen(context, builder, sig, args):
        around = _Lanes(context, builder, sig.args[0], args[0])
        around.store(args[4], _predict(builder, around, args[1:4]))
        return context.get_dummy_value()

    return types.void(ring, *[types.int64] * 4), codegen


@intrinsic
def bit_length(_typing, _word):
    """Position of the highest set bit, from 1; 0 if there is none."""

    def codegen(_context, builder, _sig, args):
        return builder.zext(builder.sub(_I32(32), builder.ctlz(args[0], _BIT(0))), _I64)

    return types.int64(types.uint32), codegen
