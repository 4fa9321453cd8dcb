"""bitunpack for one core at the speed of memory: a block of 32 values is one LLVM vector.

Eight plane words are 32 bytes; moving byte l of word k to byte k of lane l makes four 8×8 bit
matrices in 64-bit lanes, whose transposes are the values' bytes. Eight words are read whatever the
rate, and bits of the block after this one are masked away, so that narrow blocks need no branch.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

BLOCK, GROUP = 32, 8
_I8, _I32, _I64 = (ir.IntType(width) for width in (8, 32, 64))


def _all(element, value, lanes):
    return ir.Constant(ir.VectorType(element, lanes), [value] * lanes)


def _splat(builder, scalar, lanes):
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _I32(0))
    return builder.shuffle_vector(first, undefined, _all(_I32, 0, lanes))


def _transposed(builder, lanes):
    """8×8 bits in each of four 64-bit lanes: bit j of byte i becomes bit i of byte j."""
    for shift, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0xF0F0F0F0)):
        by = _all(_I64, shift, 4)
        swap = builder.and_(builder.xor(lanes, builder.lshr(lanes, by)), _all(_I64, mask, 4))
        lanes = builder.xor(lanes, builder.xor(swap, builder.shl(swap, by)))
    return lanes


def _pointer(context, builder, array_type, array, index, lanes):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(_I32, lanes).as_pointer())


def _byte(context, builder, sig, args):
    """The bytes of 32 values that eight planes from words[at:] make, under a mask."""
    words, at, mask = args[:3]
    planes = builder.load(_pointer(context, builder, sig.args[0], words, at, GROUP), align=4)
    parts = builder.bitcast(planes, ir.VectorType(_I8, BLOCK))
    order = [4 * k + lane for lane in range(4) for k in range(GROUP)]
    lanes = builder.shuffle_vector(parts, parts, ir.Constant(ir.VectorType(_I32, BLOCK), order))
    lanes = _transposed(builder, builder.bitcast(lanes, ir.VectorType(_I64, 4)))
    mask = _splat(builder, builder.trunc(mask, _I8), BLOCK)
    low = builder.and_(builder.bitcast(lanes, parts.type), mask)
    return builder.zext(low, ir.VectorType(_I32, BLOCK))


@intrinsic
def write_byte(_typing, words, _at, _mask, out, _first):
    """Values of at most eight bits to out[first:first + 32]."""

    def codegen(context, builder, sig, args):
        value = _byte(context, builder, sig, args)
        target = _pointer(context, builder, sig.args[3], args[3], args[4], BLOCK)
        builder.store(value, target, align=4)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.uint32, out, types.int64), codegen


@intrinsic
def add_byte(_typing, words, _at, _mask, out, _first, _shift):
    """One more byte of values at out[first:first + 32], `shift` bits up."""

    def codegen(context, builder, sig, args):
        value = builder.shl(_byte(context, builder, sig, args), _splat(builder, args[5], BLOCK))
        target = _pointer(context, builder, sig.args[3], args[3], args[4], BLOCK)
        builder.store(builder.or_(builder.load(target, align=4), value), target, align=4)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.uint32, out, types.int64, types.uint32), codegen


@njit
def unpack(rates, words, out):
    """Blocks of out, until fewer than 32 words are left; returns blocks done, words used."""
    at = 0
    for block in range(rates.size):
        if at + BLOCK > words.size:
            return block, at
        first = block * BLOCK
        rate = np.int64(rates[block])
        write_byte(words, at, np.uint32((1 << min(rate, GROUP)) - 1), out, first)
        for k in range(GROUP, rate, GROUP):
            mask = np.uint32((1 << min(rate - k, GROUP)) - 1)
            add_byte(words, at + k, mask, out, first, np.uint32(k))
        at += rate
    return rates.size, at


def run(rates, words, n):
    out = np.empty(rates.size * BLOCK, np.uint32)
    done, used = unpack(rates, words, out)
    if done < rates.size:
        rest = np.zeros(2 * BLOCK, np.uint32)
        rest[: words.size - used] = words[used:]
        unpack(rates[done:], rest, out[done * BLOCK :])
    return out[:n]
