"""Steps on 16 lanes at once, as LLVM vectors: the inner loops of prediction and quantisation.

They are written out because LLVM's own vectoriser takes seconds for the same loops, and because the
end of a row is then a mask and no second loop. LLVM maps the vectors to whatever the CPU has. No
operation carries a fast-math flag, so nothing is fused or reordered: encoder and decoder predict
the same number, and the check of the bound means what it says.

Each function is called from @njit code with arrays and indices where the lanes start; only the
first `count` lanes are read and written, and nothing checks that those are inside.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16

_BIT, _I8, _I16, _I32, _I64 = (ir.IntType(width) for width in (1, 8, 16, 32, 64))


def _vector(element, lanes=LANES):
    return ir.VectorType(element, lanes)


def _all(element, value):
    return ir.Constant(_vector(element), [value] * LANES)


def _order(indices):
    indices = list(indices)
    return ir.Constant(_vector(_I32, len(indices)), indices)


def _splat(builder, scalar):
    undefined = ir.Constant(_vector(scalar.type), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _I32(0))
    return builder.shuffle_vector(first, undefined, _order([0] * LANES))


def _call(builder, name, result, *args):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _name(vector):
    element = vector.element
    width = {ir.FloatType: 32, ir.DoubleType: 64}.get(type(element)) or element.width
    letter = "i" if isinstance(element, ir.IntType) else "f"
    return f"v{vector.count}{letter}{width}"


def _abs(builder, value):
    return _call(builder, f"llvm.fabs.{_name(value.type)}", value.type, value)


def _first(builder, count):
    """A mask of the first `count` lanes."""
    numbers = ir.Constant(_vector(_I64), list(range(LANES)))
    return builder.icmp_signed("<", numbers, _splat(builder, count))


class _Lanes:
    """Masked loads and stores in a NumPy array that a function was given."""

    def __init__(self, context, builder, array_type, array):
        self._builder = builder
        self._data = context.make_array(array_type)(context, builder, array).data
        self.element = context.get_data_type(array_type.dtype)
        self._align = _I32(array_type.dtype.bitwidth // 8)

    def _pointer(self, index):
        place = self._builder.gep(self._data, [index])
        return self._builder.bitcast(place, _vector(self.element).as_pointer())

    def load(self, index, mask):
        zero = _all(self.element, 0)
        return _call(
            self._builder,
            f"llvm.masked.load.{_name(zero.type)}.p0",
            zero.type,
            self._pointer(index),
            self._align,
            mask,
            zero,
        )

    def store(self, index, value, mask):
        _call(
            self._builder,
            f"llvm.masked.store.{_name(value.type)}.p0",
            ir.VoidType(),
            value,
            self._pointer(index),
            self._align,
            mask,
        )


def _guess(builder, work, places, near, far, mask):
    """near·(a + b) + far·(c + d), or 0 where that is not finite."""
    a, b, c, d = (work.load(place, mask) for place in places)
    inner = builder.fmul(_splat(builder, near), builder.fadd(a, b))
    outer = builder.fmul(_splat(builder, far), builder.fadd(c, d))
    guess = builder.fadd(inner, outer)
    finite = builder.fcmp_ordered("<", _abs(builder, guess), _all(guess.type.element, float("inf")))
    return builder.select(finite, guess, _all(guess.type.element, 0.0))


def _members(builder, packed, count):
    return [builder.extract_value(packed, i) for i in range(count)]


@intrinsic
def code(_typing, work, _at, guide, _shift, _count, codes, _k, scale):
    """Code values from their guesses and put what they decode to in their place.

    guide: where a, b, c and d are, less `shift`, near, far. scale: step, its inverse, allowed
    error, limit, magic. Adding the magic number and taking it away rounds; |whole| < limit implies
    that this was exact. Bit i of the result says that lane i can't be coded: its code is 0, its
    value the guess. NaN fails the ordered comparisons.
    """

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        mask = _first(builder, args[4])
        *places, near, far = _members(builder, args[2], 6)
        places = [builder.add(place, args[3]) for place in places]
        step, inverse, allowed, limit, magic = (
            _splat(builder, item) for item in _members(builder, args[7], 5)
        )
        value = array.load(args[1], mask)
        guess = _guess(builder, array, places, near, far, mask)
        scaled = builder.fmul(builder.fsub(value, guess), inverse)
        whole = builder.fsub(builder.fadd(scaled, magic), magic)
        decoded = builder.fadd(guess, builder.fmul(whole, step))
        error = _abs(builder, builder.fsub(value, decoded))
        small = builder.fcmp_ordered("<", _abs(builder, whole), limit)
        good = builder.and_(small, builder.fcmp_ordered("<=", error, allowed))
        whole = builder.select(good, whole, _all(array.element, 0.0))
        array.store(args[1], builder.select(good, decoded, guess), mask)
        out = _Lanes(context, builder, sig.args[5], args[5])
        out.store(args[6], builder.fptosi(whole, _vector(_I32)), mask)
        return builder.bitcast(builder.and_(builder.not_(good), mask), _I16)

    integer = types.int64
    signature = types.uint16(work, integer, guide, integer, integer, codes, integer, scale)
    return signature, codegen


@intrinsic
def restore(_typing, work, _at, guide, _shift, _count, codes, _k, _step):
    """The inverse of `code`: the same guesses by the same operations."""

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        mask = _first(builder, args[4])
        *places, near, far = _members(builder, args[2], 6)
        places = [builder.add(place, args[3]) for place in places]
        guess = _guess(builder, array, places, near, far, mask)
        whole = _Lanes(context, builder, sig.args[5], args[5]).load(args[6], mask)
        moved = builder.fmul(
            builder.sitofp(whole, _vector(array.element)), _splat(builder, args[7])
        )
        array.store(args[1], builder.fadd(guess, moved), mask)
        return context.get_dummy_value()

    integer = types.int64
    return (
        types.void(work, integer, guide, integer, integer, codes, integer, work.dtype),
        codegen,
    )


@intrinsic
def gather(_typing, work, _source, _target, _count):
    """work[target + i] = work[source + 2i]."""

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        double = builder.sub(builder.shl(args[3], _I64(1)), _I64(1))
        low = array.load(args[1], _first(builder, double))
        more = builder.sub(double, _I64(LANES))
        high = array.load(builder.add(args[1], _I64(LANES)), _first(builder, more))
        even = builder.shuffle_vector(low, high, _order(range(0, 2 * LANES, 2)))
        array.store(args[2], even, _first(builder, args[3]))
        return context.get_dummy_value()

    return types.void(work, types.int64, types.int64, types.int64), codegen


@intrinsic
def spread(_typing, work, _even, _odd, _target, _count):
    """work[target:] = work[even], work[odd], work[even + 1], …: `count` values in all."""

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        evens = builder.lshr(builder.add(args[4], _I64(1)), _I64(1))
        even = array.load(args[1], _first(builder, evens))
        odd = array.load(args[2], _first(builder, builder.lshr(args[4], _I64(1))))
        for half in range(2):
            first = half * LANES // 2
            pairs = [first + i // 2 + (i & 1) * LANES for i in range(LANES)]
            both = builder.shuffle_vector(even, odd, _order(pairs))
            place = builder.add(args[3], _I64(half * LANES))
            rest = builder.sub(args[4], _I64(half * LANES))
            array.store(place, both, _first(builder, rest))
        return context.get_dummy_value()

    return types.void(work, types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def quantise(_typing, work, _at, _count, q, _place, scale):
    """Round work[at:] to whole steps in q[place:]; bit i says that lane i fails its bound."""

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        mask = _first(builder, args[2])
        step, inverse, allowed, limit, magic = (
            _splat(builder, item) for item in _members(builder, args[5], 5)
        )
        value = array.load(args[1], mask)
        whole = builder.fsub(builder.fadd(builder.fmul(value, inverse), magic), magic)
        error = _abs(builder, builder.fsub(value, builder.fmul(whole, step)))
        small = builder.fcmp_ordered("<", _abs(builder, whole), limit)
        good = builder.and_(small, builder.fcmp_ordered("<=", error, allowed))
        whole = builder.select(good, whole, _all(array.element, 0.0))
        out = _Lanes(context, builder, sig.args[3], args[3])
        out.store(args[4], builder.fptosi(whole, _vector(_I32)), mask)
        return builder.bitcast(builder.and_(builder.not_(good), mask), _I16)

    integer = types.int64
    return types.uint16(work, integer, integer, q, integer, scale), codegen


@intrinsic
def difference(_typing, q, places, _left, _count, codes, _k):
    """codes[k:] = here − row − plane + both at four places of q; less the same one to the left."""

    def codegen(context, builder, sig, args):
        array = _Lanes(context, builder, sig.args[0], args[0])
        mask = _first(builder, args[3])
        places = _members(builder, args[1], 4)

        def rest(back):
            here, row, plane, both = (
                array.load(builder.sub(place, _I64(back)), mask) for place in places
            )
            return builder.add(builder.sub(here, row), builder.sub(both, plane))

        before = builder.and_(rest(1), _splat(builder, args[2]))
        out = _Lanes(context, builder, sig.args[4], args[4])
        out.store(args[5], builder.sub(rest(0), before), mask)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(q, places, types.int32, integer, codes, integer), codegen


@intrinsic
def integrate(_typing, codes, _k, _carry, q, places, _left, _count, work, _at, _step):
    """The inverse of `difference`, and of `quantise`; carry: the sum to the left, also returned."""

    def codegen(context, builder, sig, args):
        mask = _first(builder, args[6])
        single = _Lanes(context, builder, sig.args[0], args[0]).load(args[1], mask)
        zero = _all(_I32, 0)
        total = single
        for shift in (1, 2, 4, 8):
            later = _order([*range(shift), *range(LANES, 2 * LANES - shift)])
            total = builder.add(total, builder.shuffle_vector(zero, total, later))
        carry = builder.add(args[2], builder.extract_element(total, _I32(LANES - 1)))
        total = builder.add(total, _splat(builder, args[2]))
        along = builder.icmp_signed("!=", args[5], _I32(0))
        total = builder.select(along, total, single)
        array = _Lanes(context, builder, sig.args[3], args[3])
        here, *near = _members(builder, args[4], 4)
        row, plane, both = (array.load(place, mask) for place in near)
        total = builder.add(total, builder.sub(builder.add(row, plane), both))
        array.store(here, total, mask)
        out = _Lanes(context, builder, sig.args[7], args[7])
        moved = builder.fmul(builder.sitofp(total, _vector(out.element)), _splat(builder, args[9]))
        out.store(args[8], moved, mask)
        return carry

    integer, number = types.int64, types.int32
    return (
        number(codes, integer, number, q, places, number, integer, work, integer, work.dtype),
        codegen,
    )


def _plane(builder, packed):
    """base + 2·lane·slope, less so many bits of fraction: 16 whole numbers, modulo 2³².

    The whole part of the base, which needs more than 32 bits together with its fraction, is added
    at the end.
    """
    base, slope, bits = _members(builder, packed, 3)
    whole = builder.trunc(builder.ashr(base, bits), _I32)
    fraction = builder.and_(base, builder.sub(builder.shl(_I64(1), bits), _I64(1)))
    fraction = builder.trunc(fraction, _I32)
    doubled = ir.Constant(_vector(_I32), [2 * lane for lane in range(LANES)])
    along = builder.mul(doubled, _splat(builder, builder.trunc(slope, _I32)))
    along = builder.add(along, _splat(builder, fraction))
    along = builder.ashr(along, _splat(builder, builder.trunc(bits, _I32)))
    return builder.add(along, _splat(builder, whole))


@intrinsic
def moments(_typing, q, _at, _count):
    """Of 16 numbers of q: their sum, and that of each times its lane."""

    def codegen(context, builder, sig, args):
        numbers = _Lanes(context, builder, sig.args[0], args[0]).load(
            args[1], _first(builder, args[2])
        )
        wide = builder.sext(numbers, _vector(_I64))
        weights = ir.Constant(_vector(_I64), list(range(LANES)))
        name = "llvm.vector.reduce.add.v16i64"
        sums = [_call(builder, name, _I64, part) for part in (wide, builder.mul(wide, weights))]
        return context.make_tuple(builder, sig.return_type, sums)

    return types.UniTuple(types.int64, 2)(q, types.int64, types.int64), codegen


@intrinsic
def flatten(_typing, q, _at, _count, plane, codes):
    """codes[at:] = q[at:] less a plane (base, slope, bits of fraction)."""

    def codegen(context, builder, sig, args):
        mask = _first(builder, args[2])
        numbers = _Lanes(context, builder, sig.args[0], args[0]).load(args[1], mask)
        rest = builder.sub(numbers, _plane(builder, args[3]))
        _Lanes(context, builder, sig.args[4], args[4]).store(args[1], rest, mask)
        return context.get_dummy_value()

    return types.void(q, types.int64, types.int64, plane, codes), codegen


@intrinsic
def raise_plane(_typing, codes, _at, _count, plane, work, _step):
    """The inverse of `flatten`, and of `quantise`: work[at:] from codes[at:]."""

    def codegen(context, builder, sig, args):
        mask = _first(builder, args[2])
        rest = _Lanes(context, builder, sig.args[0], args[0]).load(args[1], mask)
        whole = builder.add(rest, _plane(builder, args[3]))
        out = _Lanes(context, builder, sig.args[4], args[4])
        moved = builder.fmul(builder.sitofp(whole, _vector(out.element)), _splat(builder, args[5]))
        out.store(args[1], moved, mask)
        return context.get_dummy_value()

    return types.void(codes, types.int64, types.int64, plane, work, work.dtype), codegen
