"""Memory by address, and 32 codes at once: what no numba expression compiles to.

Everything is int64: addresses (`array.ctypes.data`), offsets and values, so that there is one
version of each function to compile, and no mixture of signs that numba would turn into floats.
Sums and products must fit: LLVM is told that they do.
Offsets count elements of the size read or written, but bytes for a `long`, 64 bits that may start
anywhere. Nothing here checks that a place is inside an array: callers do. Arguments with an
underscore matter only to the generated code.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

compiled = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")
"""For functions that are called by compiled ones only: what Python needs takes time to compile."""
BLOCK = 32
"""Codes that `signs` reads and `spell` writes."""
DIRECT, HIGHEST = 32, 124
"""Of a token's kind: below the one, it is the magnitude; the other means from 2²⁸ on."""

_BIT, _I8, _I16, _I32, _I64 = (ir.IntType(width) for width in (1, 8, 16, 32, 64))
_CODES, _LANES = ir.VectorType(_I32, BLOCK), ir.VectorType(_BIT, BLOCK)
_HALF = ir.VectorType(_I32, 16)
_GROUPS = (0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF, 0x0F0F0F0F0F0F0F0F)
_EIGHT, _EIGHT_BITS = ir.VectorType(_I8, 8), ir.VectorType(_BIT, 8)


def _all(value, kind=_CODES):
    return ir.Constant(kind, [value] * kind.count)


def _mask(builder, word):
    return builder.bitcast(builder.trunc(word, _I32), _LANES)


def _mask_of_bytes(builder, word):
    return builder.bitcast(builder.trunc(word, _I8), _EIGHT_BITS)


def _call(builder, name, result, *args):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _place(builder, address, offset, unit, kind):
    """Pointer to a `kind`, `offset` units after the address."""
    start = builder.inttoptr(address, unit.as_pointer())
    return builder.bitcast(builder.gep(start, [offset]), kind.as_pointer())


def _reader(kind, unit, signed=False):
    def codegen(_context, builder, _sig, args):
        value = builder.load(_place(builder, *args, unit, kind), align=unit.width // 8)
        if kind is _I64:
            return value
        return builder.sext(value, _I64) if signed else builder.zext(value, _I64)

    @intrinsic
    def read(_typing, _address, _offset):
        return types.int64(types.int64, types.int64), codegen

    return read


def _writer(kind, unit):
    def codegen(context, builder, _sig, args):
        value = args[2] if kind is _I64 else builder.trunc(args[2], kind)
        builder.store(value, _place(builder, *args[:2], unit, kind), align=unit.width // 8)
        return context.get_dummy_value()

    @intrinsic
    def write(_typing, _address, _offset, _value):
        return types.void(types.int64, types.int64, types.int64), codegen

    return write


def _adder(kind):
    def codegen(context, builder, _sig, args):
        place = _place(builder, *args[:2], kind, kind)
        more = args[2] if kind is _I64 else builder.trunc(args[2], kind)
        align = kind.width // 8
        builder.store(builder.add(builder.load(place, align=align), more), place, align=align)
        return context.get_dummy_value()

    @intrinsic
    def add(_typing, _address, _offset, _more):
        return types.void(types.int64, types.int64, types.int64), codegen

    return add


byte_at, half_at, word_at = (_reader(kind, kind) for kind in (_I8, _I16, _I32))
code_at = _reader(_I32, _I32, signed=True)
item_at, long_at = _reader(_I64, _I64), _reader(_I64, _I8)
put_byte, put_half, put_word = (_writer(kind, kind) for kind in (_I8, _I16, _I32))
put_item, put_long = _writer(_I64, _I64), _writer(_I64, _I8)
add_word, add_item = _adder(_I32), _adder(_I64)


@intrinsic
def address(_typing, array):
    """Where an array begins. It must be in use as long as its address is."""

    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _I64)

    return types.int64(array), codegen


def _bytes_at(builder, start):
    return builder.inttoptr(start, _I8.as_pointer())


@intrinsic
def clear(_typing, _start, _size):
    """Set so many bytes to 0."""

    def codegen(context, builder, _sig, args):
        cgutils.memset(builder, _bytes_at(builder, args[0]), args[1], 0)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def copy(_typing, _source, _size, _target):
    """So many bytes from one place to another that does not overlap it."""

    def codegen(context, builder, _sig, args):
        source, target = _bytes_at(builder, args[0]), _bytes_at(builder, args[2])
        cgutils.raw_memcpy(builder, target, source, args[1], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def window_at(_typing, _source, _bit):
    """57 bits or more from a bit on, the first lowest; what is above them is anything."""

    def codegen(_context, builder, _sig, args):
        whole = builder.load(
            _place(builder, args[0], builder.lshr(args[1], _I64(3)), _I8, _I64), align=1
        )
        return builder.lshr(whole, builder.and_(args[1], _I64(7)))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def spread(_typing, _word):
    """The nibbles of 32 bits, in a byte each."""

    def codegen(_context, builder, _sig, args):
        word = args[0]
        for shift, mask in zip((16, 8, 4), _GROUPS, strict=True):
            word = builder.and_(builder.or_(word, builder.shl(word, _I64(shift))), _I64(mask))
        return word

    return types.int64(types.int64), codegen


@intrinsic
def gathered(_typing, _word):
    """The lower nibbles of eight bytes, side by side."""

    def codegen(_context, builder, _sig, args):
        word = builder.and_(args[0], _I64(_GROUPS[2]))
        for shift, mask in zip((4, 8, 16), (*_GROUPS[1::-1], 0xFFFFFFFF), strict=True):
            word = builder.and_(builder.or_(word, builder.lshr(word, _I64(shift))), _I64(mask))
        return word

    return types.int64(types.int64), codegen


@intrinsic
def signs(_typing, _address, _offset):
    """Of 32 codes: a bit for each that is neither 0 nor −1, and one for each neither 0 nor 1."""

    def codegen(context, builder, sig, args):
        codes = builder.load(_place(builder, *args, _I32, _CODES), align=4)
        some, not_minus, not_plus = (
            builder.icmp_unsigned("!=", codes, _all(value)) for value in (0, -1, 1)
        )
        masks = [builder.and_(some, not_minus), builder.and_(some, not_plus)]
        bits = [builder.zext(builder.bitcast(mask, _I32), _I64) for mask in masks]
        return context.make_tuple(builder, sig.return_type, bits)

    return types.UniTuple(types.int64, 2)(types.int64, types.int64), codegen


def _mask_of_16(builder, word):
    return builder.bitcast(builder.trunc(word, _I16), ir.VectorType(_BIT, 16))


def _packed(builder, values, mask):
    """Those of 16 values with a bit, side by side; the rest is anything."""
    kind = values.type
    name = f"llvm.experimental.vector.compress.v16i{kind.element.width}"
    return _call(builder, name, kind, values, mask, ir.Constant(kind, ir.Undefined))


@intrinsic
def pack(_typing, _address, _offset, _mask_word, _target, _at):
    """Of 16 codes those with a bit, side by side; 16 are written, the last of them anything."""

    def codegen(context, builder, _sig, args):
        codes = builder.load(_place(builder, *args[:2], _I32, _HALF), align=4)
        place = _place(builder, *args[3:], _I32, _HALF)
        builder.store(_packed(builder, codes, _mask_of_16(builder, args[2])), place, align=4)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), codegen


@intrinsic
def put_tokens(_typing, _address, _offset, _target, _at):
    """Tokens of 16 codes, as `entropy` has them; a bit for each that has further bits."""

    def codegen(_context, builder, _sig, args):
        code = builder.load(_place(builder, *args[:2], _I32, _HALF), align=4)
        zero, two, direct = (_all(value, _HALF) for value in (0, 2, DIRECT))
        minus = builder.icmp_signed("<", code, zero)
        size = builder.select(minus, builder.sub(zero, code), code)
        far = builder.icmp_unsigned(">=", size, direct)
        guarded = builder.select(far, size, direct)
        name, wanted = "llvm.ctlz.v16i32", ir.Constant(_BIT, 1)
        octave = builder.sub(_all(31, _HALF), _call(builder, name, _HALF, guarded, wanted))
        quarter = builder.and_(builder.lshr(guarded, builder.sub(octave, two)), _all(3, _HALF))
        kind = builder.add(builder.shl(octave, two), builder.add(quarter, _all(DIRECT - 20, _HALF)))
        highest = _all(HIGHEST, _HALF)
        kind = builder.select(builder.icmp_unsigned("<", kind, highest), kind, highest)
        kind = builder.select(far, kind, size)
        token = builder.xor(kind, builder.select(minus, _all(127, _HALF), _all(128, _HALF)))
        token = builder.trunc(token, ir.VectorType(_I8, 16))
        builder.store(token, _place(builder, *args[2:], _I8, token.type), align=1)
        return builder.zext(builder.bitcast(far, _I16), _I64)

    return types.int64(*[types.int64] * 4), codegen


@intrinsic
def outside(_typing, _tokens, _at, _first, _count):
    """Of 16 tokens, a bit for each that is not one of so many from the first on."""

    def codegen(_context, builder, _sig, args):
        kind = ir.VectorType(_I8, 16)
        tokens = builder.load(_place(builder, *args[:2], _I8, kind), align=1)
        first, count = (
            builder.shuffle_vector(
                builder.insert_element(
                    ir.Constant(kind, ir.Undefined), builder.trunc(arg, _I8), _I32(0)
                ),
                ir.Constant(kind, ir.Undefined),
                ir.Constant(ir.VectorType(_I32, 16), [0] * 16),
            )
            for arg in args[2:]
        )
        far = builder.icmp_unsigned(">=", builder.sub(tokens, first), count)
        return builder.zext(builder.bitcast(far, _I16), _I64)

    return types.int64(*[types.int64] * 4), codegen


@intrinsic
def spell(_typing, _address, _offset, _plus, _minus, _source, _at):
    """Write 32 codes: 1 for a bit in `plus`, −1 for one in `minus`, else 0.

    For a bit in both it is the next code at source[at:].
    """

    def codegen(context, builder, _sig, args):
        plus, minus = _mask(builder, args[2]), _mask(builder, args[3])
        codes = builder.select(plus, _all(1), builder.select(minus, _all(-1), _all(0)))
        others = _place(builder, *args[4:], _I32, _I32)
        name = "llvm.masked.expandload.v32i32"
        codes = _call(builder, name, _CODES, others, builder.and_(plus, minus), codes)
        builder.store(codes, _place(builder, *args[:2], _I32, _CODES), align=4)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


@intrinsic
def bytes_in(_typing, _word):
    """A bit for each of eight bytes, lowest first: whether it is other than 0."""

    def codegen(_context, builder, _sig, args):
        value = builder.bitcast(args[0], _EIGHT)
        some = builder.icmp_unsigned("!=", value, ir.Constant(_EIGHT, [0] * 8))
        return builder.zext(builder.bitcast(some, _I8), _I64)

    return types.int64(types.int64), codegen


@intrinsic
def pack_bytes(_typing, _word, _mask_word):
    """Of eight bytes those with a bit, side by side; the rest is anything."""

    def codegen(_context, builder, _sig, args):
        # Sixteen at once, since LLVM 22 gives up on eight where there are AVX-512 masks.
        words, kind = ir.VectorType(_I64, 2), ir.VectorType(_I8, 16)
        both = builder.insert_element(ir.Constant(words, [0, 0]), args[0], _I32(0))
        mask = _mask_of_16(builder, builder.and_(args[1], _I64(255)))
        packed = _packed(builder, builder.bitcast(both, kind), mask)
        return builder.extract_element(builder.bitcast(packed, words), _I32(0))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def spread_bytes(_typing, _source, _at, _mask_word):
    """Eight bytes: where there is a bit, the next at source[at:], else 0."""

    def codegen(_context, builder, _sig, args):
        place, mask = (
            _place(builder, *args[:2], _I8, _I8),
            _mask_of_bytes(builder, args[2]),
        )
        name = "llvm.masked.expandload.v8i8"
        value = _call(builder, name, _EIGHT, place, mask, ir.Constant(_EIGHT, [0] * 8))
        return builder.bitcast(value, _I64)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def turned(_typing, _word, _length):
    """The lowest bits of a word, so many of them, in reverse order."""

    def codegen(_context, builder, _sig, args):
        return builder.lshr(builder.bitreverse(args[0]), builder.sub(_I64(64), args[1]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def octave(_typing, _size):
    """Position of the highest set bit of 32; −1 if there is none."""

    def codegen(_context, builder, _sig, args):
        size = builder.trunc(args[0], _I32)
        return builder.sext(builder.sub(_I32(31), builder.ctlz(size, _BIT(0))), _I64)

    return types.int64(types.int64), codegen


@intrinsic
def ones(_typing, _word):
    """Number of set bits."""

    def codegen(_context, builder, _sig, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def shifted_down(_typing, _word, _bits):
    """Zeros come in at the top, whatever the sign."""

    def codegen(_context, builder, _sig, args):
        return builder.lshr(*args)

    return types.int64(types.int64, types.int64), codegen
