"""Sixteen words copied at once, as an LLVM vector.

Nothing checks that they are inside the arrays. Arguments with an underscore matter only to the
generated code.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORDS = 16

_VECTOR = ir.VectorType(ir.IntType(32), WORDS)


def _place(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@intrinsic
def copy(_typing, source, _i, target, _j):
    """target[j : j + 16] = source[i : i + 16]"""

    def codegen(context, builder, sig, args):
        words = builder.load(_place(context, builder, sig.args[0], args[0], args[1]), align=4)
        builder.store(words, _place(context, builder, sig.args[2], args[2], args[3]), align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), codegen
