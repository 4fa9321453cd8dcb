"""bitpack for one core at the speed of memory: a block of 32 values is one LLVM vector.

The 32 low bytes are four 8×8 bit matrices in 64-bit lanes. Transposing them and gathering byte k of
every lane gives planes 0…7 in order, so eight words are stored at once; what lies above the block's
rate is overwritten by the next block. Wider blocks do the same with their higher bytes.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

BLOCK, GROUP = 32, 8
_I8, _I32, _I64 = (ir.IntType(width) for width in (8, 32, 64))


def _all(element, value, lanes):
    return ir.Constant(ir.VectorType(element, lanes), [value] * lanes)


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


@intrinsic
def highest(_typing, values, _first):
    """The OR of the 32 values at values[first:]."""

    def codegen(context, builder, sig, args):
        source = _pointer(context, builder, sig.args[0], args[0], args[1], BLOCK)
        block = builder.load(source, align=4)
        kind = ir.FunctionType(_I32, [block.type])
        name = "llvm.vector.reduce.or.v32i32"
        reduce = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(reduce, [block])

    return types.uint32(values, types.int64), codegen


@intrinsic
def eight_planes(_typing, values, _first, _shift, words, _at):
    """Planes shift…shift + 7 of the 32 values at values[first:] to words[at:at + 8].

    Bit k of the result says that plane shift + k is not empty; bit 8 that a value has higher bits.
    """

    def codegen(context, builder, sig, args):
        source = _pointer(context, builder, sig.args[0], args[0], args[1], BLOCK)
        block = builder.load(source, align=4)
        undefined = ir.Constant(block.type, ir.Undefined)
        shift = builder.insert_element(undefined, args[2], _I32(0))
        shift = builder.shuffle_vector(shift, undefined, _all(_I32, 0, BLOCK))
        block = builder.lshr(block, shift)
        low = builder.trunc(block, ir.VectorType(_I8, BLOCK))
        lanes = _transposed(builder, builder.bitcast(low, ir.VectorType(_I64, 4)))
        parts = builder.bitcast(lanes, low.type)
        order = [8 * lane + k for k in range(GROUP) for lane in range(4)]
        order = ir.Constant(ir.VectorType(_I32, BLOCK), order)
        planes = builder.shuffle_vector(parts, parts, order)
        planes = builder.bitcast(planes, ir.VectorType(_I32, GROUP))
        target = _pointer(context, builder, sig.args[3], args[3], args[4], GROUP)
        builder.store(planes, target, align=4)
        used = builder.bitcast(builder.icmp_unsigned("!=", planes, _all(_I32, 0, GROUP)), _I8)
        above = builder.icmp_unsigned(">", block, _all(_I32, 255, BLOCK))
        above = builder.icmp_unsigned("!=", builder.bitcast(above, _I32), _I32(0))
        above = builder.shl(builder.zext(above, _I32), _I32(GROUP))
        return builder.or_(builder.zext(used, _I32), above)

    return types.uint32(values, types.int64, types.uint32, words, types.int64), codegen


@intrinsic
def bit_length(_typing, _word):
    """Position of the highest set bit, from 1; 0 if there is none."""

    def codegen(_context, builder, _sig, args):
        zeros = builder.ctlz(args[0], ir.IntType(1)(0))
        return builder.zext(builder.sub(_I32(32), zeros), _I64)

    return types.int64(types.uint32), codegen


@njit
def pack(values, rates, words, at):
    """All whole blocks of values; payloads go to words[at:]. Returns where they end."""
    for block in range(values.size // BLOCK):
        first = block * BLOCK
        rate = bit_length(eight_planes(values, first, np.uint32(0), words, at))
        if rate > GROUP:
            rate = bit_length(highest(values, first))
            for k in range(GROUP, rate, GROUP):
                eight_planes(values, first, np.uint32(k), words, at + k)
        rates[block] = rate
        at += rate
    return at


def run(values):
    whole = values.size // BLOCK * BLOCK
    blocks = -(-values.size // BLOCK)
    rates = np.empty(blocks, np.uint8)
    words = np.empty(blocks * BLOCK + GROUP, np.uint32)
    end = pack(values[:whole], rates, words, 0)
    if whole < values.size:
        tail = np.zeros(BLOCK, np.uint32)
        tail[: values.size - whole] = values[whole:]
        end = pack(tail, rates[-1:], words, end)
    return rates, words[:end]
