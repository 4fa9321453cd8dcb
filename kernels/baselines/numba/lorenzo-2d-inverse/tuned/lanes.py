"""Running sums of int32 in vector registers, as LLVM code: what no loop with a carry compiles to.

A sum over 16 lanes takes four steps: add the lanes shifted by 1, 2, 4 and 8. The last lane of a
vector, spread over all lanes, is added to the next one. LLVM maps the vectors to whatever the CPU
has. Nothing checks that the lanes are inside the arrays. Arguments with an underscore matter only
to the generated code.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
WIDE = 4 * LANES

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_I32, LANES)
_ZEROS = ir.Constant(_VECTOR, [0] * LANES)
_ALIGN = _I32(4)


def _order(indices):
    return ir.Constant(_VECTOR, list(indices))


def _shifted(builder, vector, by):
    """Lane i holds what lane i - by held; the first ones are 0."""
    return builder.shuffle_vector(_ZEROS, vector, _order(range(LANES - by, 2 * LANES - by)))


def _spread(builder, vector, lane):
    return builder.shuffle_vector(vector, _ZEROS, _order([lane] * LANES))


def _splat(builder, scalar):
    return _spread(builder, builder.insert_element(_ZEROS, scalar, _I32(0)), 0)


def _sums(builder, vector):
    for by in (1, 2, 4, 8):
        vector = builder.add(vector, _shifted(builder, vector, by))
    return vector


def _place(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _call(builder, name, result, *args):
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _sums_of(vectors):
    """The function for so many vectors at once."""

    @intrinsic
    def put_sums(_typing, codes, _i, above, _j, out, _before):
        """out[i:] = above[j:] + before + running sum of codes[i:]; returns the next `before`."""

        def codegen(context, builder, sig, args):
            firsts = [
                _place(context, builder, sig.args[array], args[array], args[index])
                for array, index in ((0, 1), (2, 3), (4, 1))
            ]
            sources, rows, targets = (
                [builder.gep(first, [_I64(n)]) for n in range(vectors)] for first in firsts
            )
            # All sums are taken before one waits for another: the chain is one addition per vector.
            sums = [_sums(builder, builder.load(source, align=4)) for source in sources]
            before = _splat(builder, args[5])
            for vector, row, target in zip(sums, rows, targets, strict=True):
                here = builder.add(vector, before)
                here = builder.add(here, builder.load(row, align=4))
                before = builder.add(before, _spread(builder, vector, LANES - 1))
                builder.store(here, target, align=4)
            return builder.extract_element(before, _I32(0))

        return types.int32(codes, types.int64, above, types.int64, out, types.int32), codegen

    return put_sums


put_wide = _sums_of(WIDE // LANES)
put_vector = _sums_of(1)


@intrinsic
def put_rest(_typing, codes, _i, above, _j, out, _before, _count):
    """The same for the first `count` lanes of one vector; returns nothing."""

    def codegen(context, builder, sig, args):
        source, row, target = (
            _place(context, builder, sig.args[array], args[array], args[index])
            for array, index in ((0, 1), (2, 3), (4, 1))
        )
        count = _splat(builder, builder.trunc(args[6], _I32))
        mask = builder.icmp_signed("<", _order(range(LANES)), count)
        load, store = "llvm.masked.load.v16i32.p0", "llvm.masked.store.v16i32.p0"
        code = _call(builder, load, _VECTOR, source, _ALIGN, mask, _ZEROS)
        base = _call(builder, load, _VECTOR, row, _ALIGN, mask, _ZEROS)
        here = builder.add(_sums(builder, code), builder.add(base, _splat(builder, args[5])))
        _call(builder, store, ir.VoidType(), here, target, _ALIGN, mask)
        return context.get_dummy_value()

    return types.void(
        codes, types.int64, above, types.int64, out, types.int32, types.int64
    ), codegen
