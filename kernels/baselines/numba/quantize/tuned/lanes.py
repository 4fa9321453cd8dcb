"""Quantisation of 32 floats at once, as LLVM vectors: what no loop compiles to in one piece.

No operation carries a fast-math flag, so nothing is fused and the bound's check means what it says.
An index says where 32 values start, and nothing checks that they are inside. Arguments with an
underscore matter only to the generated code.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 32

_I8, _I32, _F32 = ir.IntType(8), ir.IntType(32), ir.FloatType()


def _vector(element):
    return ir.VectorType(element, BLOCK)


def _all(element, value):
    return ir.Constant(_vector(element), [value] * BLOCK)


def _splat(builder, scalar):
    undefined = ir.Constant(_vector(scalar.type), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _I32(0))
    return builder.shuffle_vector(first, undefined, _all(_I32, 0))


def _place(context, builder, array_type, array, index, element):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _vector(element).as_pointer())


def _size(builder, vector):
    kind = ir.FunctionType(vector.type, [vector.type])
    fabs = cgutils.get_or_insert_function(builder.module, kind, "llvm.fabs.v32f32")
    return builder.call(fabs, [vector])


@intrinsic
def quantise(_typing, x, _index, q, ok, _r, _step, _tolerance, _near):
    """Quantise x[index:] into q and ok. Bit i of the result: i is flagged though |x| < near.

    x·r plus the magic number, minus it, is x·r rounded to an integer; the sum's low bits are that
    integer. NaN and Inf fail the ordered comparisons.
    """

    def codegen(context, builder, sig, args):
        source, integers, flags = (
            _place(context, builder, sig.args[n], args[n], args[1], element)
            for n, element in ((0, _F32), (2, _I32), (3, _I8))
        )
        r, step, tolerance, near = (_splat(builder, scalar) for scalar in args[4:])
        magic = _all(_F32, 12582912.0)
        value = builder.load(source, align=4)
        shifted = builder.fadd(builder.fmul(value, r), magic)
        rounded = builder.fsub(shifted, magic)
        error = builder.fsub(value, builder.fmul(rounded, step))
        small = builder.fcmp_ordered("<", _size(builder, rounded), _all(_F32, 2.0**22))
        keeps = builder.and_(small, builder.fcmp_ordered("<=", _size(builder, error), tolerance))
        low = builder.sub(builder.bitcast(shifted, _vector(_I32)), _all(_I32, 0x4B400000))
        builder.store(builder.select(keeps, low, _all(_I32, 0)), integers, align=4)
        builder.store(builder.zext(keeps, _vector(_I8)), flags, align=1)
        reachable = builder.fcmp_ordered("<", _size(builder, value), near)
        return builder.bitcast(builder.and_(builder.not_(keeps), reachable), _I32)

    single = types.float32
    return types.uint32(x, types.int64, q, ok, single, single, single, single), codegen
