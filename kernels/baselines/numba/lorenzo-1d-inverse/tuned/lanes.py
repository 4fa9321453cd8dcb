"""Running sums of int32 in vector registers, as LLVM code: what no loop with a carry compiles to.

A sum over 16 lanes takes four steps: add the lanes shifted by 1, 2, 4 and 8. The last lane of a
vector, spread over all lanes, is added to the next one. LLVM maps the vectors to whatever the CPU
has. Nothing checks that the lanes are inside the arrays. Arguments with an underscore matter only
to the generated code.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 16
VECTORS = 4
WIDE = VECTORS * LANES

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_I32, LANES)
_ZEROS = ir.Constant(_VECTOR, [0] * LANES)


def _order(indices):
    return ir.Constant(_VECTOR, list(indices))


def _shifted(builder, vector, by):
    """Lane i holds what lane i - by held; the first ones are 0."""
    return builder.shuffle_vector(_ZEROS, vector, _order(range(LANES - by, 2 * LANES - by)))


def _spread(builder, vector, lane):
    return builder.shuffle_vector(vector, _ZEROS, _order([lane] * LANES))


def _sums(builder, vector):
    for by in (1, 2, 4, 8):
        vector = builder.add(vector, _shifted(builder, vector, by))
    return vector


def _places(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    first = builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())
    return [builder.gep(first, [_I64(n)]) for n in range(VECTORS)]


@intrinsic
def put_sums(_typing, codes, _index, out, _before):
    """out[index:] = before + the running sum of codes[index:], 64 of them; the last is returned."""

    def codegen(context, builder, sig, args):
        sources = _places(context, builder, sig.args[0], args[0], args[1])
        targets = _places(context, builder, sig.args[2], args[2], args[1])
        # All sums are taken before one waits for another: the chain is one addition per vector.
        sums = [_sums(builder, builder.load(source, align=4)) for source in sources]
        before = _spread(builder, builder.insert_element(_ZEROS, args[3], _I32(0)), 0)
        for vector, target in zip(sums, targets, strict=True):
            builder.store(builder.add(vector, before), target, align=4)
            before = builder.add(before, _spread(builder, vector, LANES - 1))
        return builder.extract_element(before, _I32(0))

    return types.int32(codes, types.int64, out, types.int32), codegen
