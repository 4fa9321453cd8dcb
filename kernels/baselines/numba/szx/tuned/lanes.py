"""Steps on the 128 values of a block at once, as LLVM vectors: it maps them to what the CPU has.

Values are signed integers as wide as the data: the bits of a float, or `ordered` bits, which order
as the floats do: all but the sign flipped if the sign is set. The same step turns them back.

Each function is called from @njit code. An array and an index say where a block starts, and nothing
checks that it is inside. Arguments with an underscore matter only to the generated code.
"""

from contextlib import contextmanager

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 128
LINE_BITS = 512
STEP = 32
"""Lanes of one turn of a loop over byte planes: more would be spilled."""

_BIT, _I8, _I32, _I64, _MASK = (ir.IntType(width) for width in (1, 8, 32, 64, BLOCK))


def _splat(builder, scalar, lanes=BLOCK):
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _I32(0))
    zeros = ir.Constant(ir.VectorType(_I32, lanes), None)
    return builder.shuffle_vector(first, undefined, zeros)


def _all(builder, kind, value):
    """A constant vector."""
    return _splat(builder, kind.element(value), kind.count)


class _Lanes:
    """Loads and stores of vectors in a NumPy array that a function was given."""

    def __init__(self, context, builder, array_type, array):
        self._builder = builder
        self._data = context.make_array(array_type)(context, builder, array).data
        self.element = context.get_data_type(array_type.dtype)
        self._align = array_type.dtype.bitwidth // 8

    def pointer(self, index):
        return self._builder.gep(self._data, [index])

    def load(self, index, kind=None):
        kind = kind or ir.VectorType(self.element, BLOCK)
        pointer = self._builder.bitcast(self.pointer(index), kind.as_pointer())
        return self._builder.load(pointer, align=self._align)

    def store(self, index, value, streams=False):
        pointer = self._builder.bitcast(self.pointer(index), value.type.as_pointer())
        stored = self._builder.store(value, pointer, align=self._align)
        if streams:
            stored.align = LINE_BITS // 8
            hint = self._builder.module.add_metadata([_I32(1)])
            stored.set_metadata("nontemporal", hint)


def _store_upwards(builder, target, index, value, streams=None):
    """Store a vector by lines of the cache, in the order of their addresses.

    Left to itself, LLVM may store the last one first; memory then takes three times as long.
    If `streams` is true when this runs, the lines go past the cache, and must be whole ones.
    """
    if streams is not None:
        with builder.if_else(streams) as (then, otherwise):
            with then:
                _store_lines(builder, target, index, value, True)
            with otherwise:
                _store_lines(builder, target, index, value, False)
        return
    _store_lines(builder, target, index, value, False)


def _store_lines(builder, target, index, value, streams):
    kind = value.type
    lanes = LINE_BITS // kind.element.width
    undefined = ir.Constant(kind, ir.Undefined)
    for first in range(0, kind.count, lanes):
        order = ir.Constant(ir.VectorType(_I32, lanes), list(range(first, first + lanes)))
        line = builder.shuffle_vector(value, undefined, order)
        target.store(builder.add(index, _I64(first)), line, streams)
        # For the compiler alone: the stores before stay before.
        builder.fence("release", "singlethread")


def _turned(builder, value):
    """Bits to ordered bits, and back."""
    width = value.type.element.width
    sign = builder.ashr(value, _all(builder, value.type, width - 1))
    low = _all(builder, value.type, (1 << (width - 1)) - 1)
    return builder.xor(value, builder.and_(sign, low))


def _call(builder, name, result, *args):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@contextmanager
def _steps(builder, *indices):
    """A loop over a block; gives the indices moved on to where the turn's lanes start."""
    with cgutils.for_range(builder, _I64(BLOCK // STEP)) as loop:
        moved = builder.mul(loop.index, _I64(STEP))
        yield [builder.add(index, moved) for index in indices]


def _woven(builder, planes):
    """Up to four byte planes as the 32-bit integers whose bytes they are, the first the lowest."""
    if len(planes) == 1:
        return builder.zext(planes[0], ir.VectorType(_I32, STEP))
    zero = ir.Constant(planes[0].type, None)
    low, high = [
        _chained(builder, pair[0], pair[1])
        for pair in ((*planes, zero, zero)[:2], (*planes, zero, zero)[2:4])
    ]
    order = [k * STEP + i for i in range(STEP) for k in range(4)]
    weave = ir.Constant(ir.VectorType(_I32, 4 * STEP), order)
    return builder.bitcast(builder.shuffle_vector(low, high, weave), ir.VectorType(_I32, STEP))


def _chained(builder, first, second):
    order = ir.Constant(ir.VectorType(_I32, 2 * STEP), list(range(2 * STEP)))
    return builder.shuffle_vector(first, second, order)


def _by_count(builder, count, largest, emit):
    """Run the code that `emit` makes for the count at hand, 1 to `largest`."""
    after = builder.append_basic_block("counted")
    switch = builder.switch(count, after)
    for known in range(1, largest + 1):
        block = builder.append_basic_block(f"count{known}")
        switch.add_case(_I64(known), block)
        builder.position_at_end(block)
        emit(known)
        builder.branch(after)
    builder.position_at_end(after)


def _reduced(builder, kind, value):
    element = value.type.element
    return _call(builder, f"llvm.vector.reduce.{kind}.v{BLOCK}i{element.width}", element, value)


@intrinsic
def extremes(_typing, bits, _index):
    """Smallest and largest of the ordered bits[index:]."""

    def codegen(context, builder, sig, args):
        value = _turned(builder, _Lanes(context, builder, sig.args[0], args[0]).load(args[1]))
        found = [_reduced(builder, kind, value) for kind in ("smin", "smax")]
        return context.make_tuple(builder, sig.return_type, found)

    return types.UniTuple(bits.dtype, 2)(bits, types.int64), codegen


@intrinsic
def extremes_besides(_typing, bits, _index, _pattern):
    """The same, over those whose bits are not the pattern."""

    def codegen(context, builder, sig, args):
        plain = _Lanes(context, builder, sig.args[0], args[0]).load(args[1])
        value = _turned(builder, plain)
        beside = builder.icmp_unsigned("==", plain, _splat(builder, args[2]))
        least = 1 << (value.type.element.width - 1)
        found = [
            _reduced(builder, kind, builder.select(beside, _all(builder, value.type, end), value))
            for kind, end in (("smin", least - 1), ("smax", least))
        ]
        return context.make_tuple(builder, sig.return_type, found)

    return types.UniTuple(bits.dtype, 2)(bits, types.int64, bits.dtype), codegen


@intrinsic
def split(_typing, bits, _index, _offset, _shift, _base, _count, out, _at):
    """The ordered bits[index:] plus offset, shifted right, minus base: byte planes to out[at:]."""
    kind = bits.dtype

    def codegen(context, builder, sig, args):
        source = _Lanes(context, builder, sig.args[0], args[0])
        target = _Lanes(context, builder, sig.args[6], args[6])
        wide, bytes_ = (ir.VectorType(element, STEP) for element in (source.element, _I8))
        offset, shift, base = (_splat(builder, arg, STEP) for arg in args[2:5])

        def emit(count):
            with _steps(builder, args[1], args[7]) as (index, at):
                value = builder.add(_turned(builder, source.load(index, wide)), offset)
                value = builder.sub(builder.lshr(value, shift), base)
                for k in range(count):
                    byte = builder.lshr(value, _all(builder, wide, 8 * k))
                    place = builder.add(at, _I64(k * BLOCK))
                    target.store(place, builder.trunc(byte, bytes_))

        _by_count(builder, args[5], kind.bitwidth // 8 - 1, emit)
        return context.get_dummy_value()

    return types.void(bits, types.int64, kind, kind, kind, types.int64, out, types.int64), codegen


@intrinsic
def join(_typing, data, _at, _count, _base, _shift, bits, _index, _streams):
    """Values of `count` byte planes of data[at:], plus base, shifted left: bits to bits[index:]."""
    kind = bits.dtype

    def codegen(context, builder, sig, args):
        source = _Lanes(context, builder, sig.args[0], args[0])
        target = _Lanes(context, builder, sig.args[5], args[5])
        wide, bytes_ = (ir.VectorType(element, STEP) for element in (target.element, _I8))
        shift = _splat(builder, args[4], STEP)
        # With the sign flipped, `_turned` is what is left to do.
        top = target.element(1 << (target.element.width - 1))
        base = _splat(builder, builder.add(builder.shl(args[3], args[4]), top), STEP)

        def emit(count, streams):
            with _steps(builder, args[1], args[6]) as (at, index):
                planes = [
                    source.load(builder.add(at, _I64(k * BLOCK)), bytes_) for k in range(count)
                ]
                value = builder.zext(_woven(builder, planes[:4]), wide)
                if count > 4:
                    upper = builder.zext(_woven(builder, planes[4:]), wide)
                    value = builder.or_(value, builder.shl(upper, _all(builder, wide, 32)))
                value = builder.add(base, builder.shl(value, shift))
                _store_lines(builder, target, index, _turned(builder, value), streams)

        def both(count):
            with builder.if_else(args[7]) as (then, otherwise):
                with then:
                    emit(count, True)
                with otherwise:
                    emit(count, False)

        _by_count(builder, args[2], kind.bitwidth // 8 - 1, both)
        return context.get_dummy_value()

    sizes = (types.int64, types.int64)
    signature = types.void(data, *sizes, kind, kind, bits, types.int64, types.boolean)
    return signature, codegen


@intrinsic
def item(_typing, words, _at, bits):
    """The integer as wide as those of `bits` that lies in words[at:]."""

    def codegen(context, builder, sig, args):
        source = _Lanes(context, builder, sig.args[0], args[0])
        kind = context.get_value_type(sig.return_type)
        pointer = builder.bitcast(source.pointer(args[1]), kind.as_pointer())
        return builder.load(pointer, align=4)

    return bits.dtype(words, types.int64, bits), codegen


@intrinsic
def equal(_typing, bits, _index, _pattern, _count, words, _at):
    """Mark in words[at : at + 4] which of `count` values are the pattern; returns how many."""

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(args[1])
        marks = builder.icmp_unsigned("==", value, _splat(builder, args[2]))
        marks = builder.bitcast(marks, _MASK)
        absent = builder.zext(builder.sub(_I64(BLOCK), args[3]), _MASK)
        marks = builder.and_(marks, builder.lshr(_MASK((1 << BLOCK) - 1), absent))
        _Lanes(context, builder, sig.args[4], args[4]).store(args[5], marks)
        return builder.trunc(builder.ctpop(marks), _I64)

    sizes = (types.int64, bits.dtype, types.int64)
    return types.int64(bits, *sizes, words, types.int64), codegen


@intrinsic
def blend(_typing, words, _at, _pattern, held, bits, _index, _streams):
    """Write to bits[index:] what is held, with the pattern where words[at:] mark it."""

    def codegen(context, builder, sig, args):
        marks = _Lanes(context, builder, sig.args[0], args[0]).load(args[1], _MASK)
        marks = builder.bitcast(marks, ir.VectorType(_BIT, BLOCK))
        value = _Lanes(context, builder, sig.args[3], args[3]).load(_I64(0))
        value = builder.select(marks, _splat(builder, args[2]), value)
        target = _Lanes(context, builder, sig.args[4], args[4])
        _store_upwards(builder, target, args[5], value, args[6])
        return context.get_dummy_value()

    sizes = (types.int64, types.boolean)
    return types.void(words, types.int64, bits.dtype, held, bits, *sizes), codegen


@intrinsic
def replace(_typing, bits, _index, _old, _new, held):
    """Copy bits[index:] to held, with `new` in place of `old`."""

    def codegen(context, builder, sig, args):
        value = _Lanes(context, builder, sig.args[0], args[0]).load(args[1])
        old, new = (_splat(builder, arg) for arg in args[2:4])
        value = builder.select(builder.icmp_unsigned("==", value, old), new, value)
        _Lanes(context, builder, sig.args[4], args[4]).store(_I64(0), value)
        return context.get_dummy_value()

    return types.void(bits, types.int64, bits.dtype, bits.dtype, held), codegen


@intrinsic
def fill(_typing, _pattern, bits, _index, _streams):
    """Set all of bits[index:] to the pattern."""

    def codegen(context, builder, sig, args):
        target = _Lanes(context, builder, sig.args[1], args[1])
        _store_upwards(builder, target, args[2], _splat(builder, args[0]), args[3])
        return context.get_dummy_value()

    return types.void(bits.dtype, bits, types.int64, types.boolean), codegen


@intrinsic
def restore(_typing, words, _at, bits, _index, _streams):
    """Copy a whole block of values from words[at:] to bits[index:]."""

    def codegen(context, builder, sig, args):
        target = _Lanes(context, builder, sig.args[2], args[2])
        source = _Lanes(context, builder, sig.args[0], args[0])
        value = source.load(args[1], ir.VectorType(target.element, BLOCK))
        _store_upwards(builder, target, args[3], value, args[4])
        return context.get_dummy_value()

    sizes = (types.int64, types.boolean)
    return types.void(words, types.int64, bits, *sizes), codegen


@intrinsic
def settle(_typing):
    """Stores past the cache are done before whatever is stored next."""

    def codegen(context, builder, _sig, _args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def copy(_typing, source, _from, target, _to, _bytes):
    """Copy so many bytes from source[from:] to target[to:]."""

    def codegen(context, builder, sig, args):
        start, to = (
            _Lanes(context, builder, sig.args[k], args[k]).pointer(args[k + 1]) for k in (0, 2)
        )
        start, to = (builder.bitcast(pointer, _I8.as_pointer()) for pointer in (start, to))
        cgutils.raw_memcpy(builder, to, start, args[4], 1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64, types.int64), codegen


@intrinsic
def real(_typing, bits):
    """The float that has these bits."""
    kind = types.float32 if bits == types.int32 else types.float64

    def codegen(context, builder, _sig, args):
        return builder.bitcast(args[0], context.get_value_type(kind))

    return kind(bits), codegen


@intrinsic
def pattern(_typing, value):
    """The bits of a float."""
    kind = types.int32 if value == types.float32 else types.int64

    def codegen(context, builder, _sig, args):
        return builder.bitcast(args[0], context.get_value_type(kind))

    return kind(value), codegen


@intrinsic
def byte_length(_typing, _value):
    """Bytes that an integer needs; none for 0."""

    def codegen(_context, builder, _sig, args):
        bits = builder.sub(_I64(64), builder.ctlz(args[0], _BIT(0)))
        return builder.lshr(builder.add(bits, _I64(7)), _I64(3))

    return types.int64(types.uint64), codegen


ROW = 16
"""Words that `add_rows` takes at a time."""
HALF = ROW // 2


@intrinsic
def add_rows(_typing, words, _at, _rows, sums):
    """Go on with the sums of so many rows of words[at:].

    `sums` has four rows of HALF: sums of pairs of words, each taken as one integer, then sums of
    what those were after each row, then the same of the pairs' upper words. The second kind gives
    each row the weight of how many follow, itself counted, without a product.
    """
    half = ir.VectorType(_I64, HALF)

    def codegen(context, builder, sig, args):
        source = _Lanes(context, builder, sig.args[0], args[0])
        kept = _Lanes(context, builder, sig.args[3], args[3])
        rows = [kept.load(_I64(k * HALF), half) for k in range(4)]
        totals = [cgutils.alloca_once_value(builder, row) for row in rows]
        with cgutils.for_range(builder, args[2]) as loop:
            place = builder.add(args[1], builder.mul(loop.index, _I64(ROW)))
            pairs = source.load(place, half)
            upper = builder.lshr(pairs, _all(builder, half, 32))
            for plain, running, part in ((*totals[:2], pairs), (*totals[2:], upper)):
                total = builder.add(builder.load(plain), part)
                builder.store(total, plain)
                builder.store(builder.add(builder.load(running), total), running)
        for k, total in enumerate(totals):
            kept.store(_I64(k * HALF), builder.load(total))
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64, sums), codegen
