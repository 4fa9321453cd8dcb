// Shuffles, votes, match and reductions of a warp.
#pragma once
#include "sync.h"

#define SIMT_SHUFFLE(type, bits, back)                                                             \
    SIMT_FN type simt_shuffle(unsigned line, unsigned op, simt_u64 mask, type value, unsigned arg, \
                              unsigned width) {                                                    \
        return back(__simt_shuffle(line, op, mask, bits(value), arg, width));                      \
    }                                                                                              \
    SIMT_FN type __shfl_sync(simt_mask mask, type value, int lane, int width = SIMT_WARP,          \
                             SIMT_LINE) {                                                          \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_INDEX, mask, value, (unsigned)lane, width);    \
    }                                                                                              \
    SIMT_FN type __shfl_up_sync(simt_mask mask, type value, unsigned delta, int width = SIMT_WARP, \
                                SIMT_LINE) {                                                       \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_UP, mask, value, delta, width);                \
    }                                                                                              \
    SIMT_FN type __shfl_down_sync(simt_mask mask, type value, unsigned delta,                      \
                                  int width = SIMT_WARP, SIMT_LINE) {                              \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_DOWN, mask, value, delta, width);              \
    }                                                                                              \
    SIMT_FN type __shfl_xor_sync(simt_mask mask, type value, int lanes, int width = SIMT_WARP,     \
                                 SIMT_LINE) {                                                      \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_XOR, mask, value, (unsigned)lanes, width);     \
    }                                                                                              \
    SIMT_UNMASKED_SHUFFLE(type)
// HIP's form without a mask: all lanes that are there.
#ifdef SIMT_HIP
#define SIMT_UNMASKED_SHUFFLE(type)                                                                \
    SIMT_FN type __shfl(type value, int lane, int width = SIMT_WARP, SIMT_LINE) {                  \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_INDEX, __simt_active(), value,                 \
                            (unsigned)lane, width);                                                \
    }                                                                                              \
    SIMT_FN type __shfl_up(type value, unsigned delta, int width = SIMT_WARP, SIMT_LINE) {         \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_UP, __simt_active(), value, delta, width);     \
    }                                                                                              \
    SIMT_FN type __shfl_down(type value, unsigned delta, int width = SIMT_WARP, SIMT_LINE) {       \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_DOWN, __simt_active(), value, delta, width);   \
    }                                                                                              \
    SIMT_FN type __shfl_xor(type value, int lanes, int width = SIMT_WARP, SIMT_LINE) {             \
        return simt_shuffle(simt_line, SIMT_SHUFFLE_XOR, __simt_active(), value,                   \
                            (unsigned)lanes, width);                                               \
    }
#else
#define SIMT_UNMASKED_SHUFFLE(type)
#endif
#define SIMT_FLOAT_BITS(v) (simt_u64)simt_cast<unsigned>(v)
#define SIMT_FLOAT_BACK(v) simt_cast<float>((unsigned)(v))
SIMT_SHUFFLE(int, (simt_u64)(unsigned), (int))
SIMT_SHUFFLE(unsigned, (simt_u64), (unsigned))
SIMT_SHUFFLE(long, (simt_u64), (long))
SIMT_SHUFFLE(unsigned long, (simt_u64), (unsigned long))
SIMT_SHUFFLE(long long, (simt_u64), (long long))
SIMT_SHUFFLE(unsigned long long, (simt_u64), (unsigned long long))
SIMT_SHUFFLE(float, SIMT_FLOAT_BITS, SIMT_FLOAT_BACK)
SIMT_SHUFFLE(double, simt_cast<simt_u64>, simt_cast<double>)

SIMT_FN simt_mask __ballot_sync(simt_mask mask, int predicate, SIMT_LINE) {
    return (simt_mask)__simt_ballot(simt_line, mask, predicate != 0);
}
SIMT_FN int __any_sync(simt_mask mask, int predicate, SIMT_LINE) {
    return __simt_ballot(simt_line, mask, predicate != 0) != 0;
}
SIMT_FN int __all_sync(simt_mask mask, int predicate, SIMT_LINE) {
    return __simt_ballot(simt_line, mask, predicate == 0) == 0;
}
SIMT_FN int __uni_sync(simt_mask mask, int predicate, SIMT_LINE) {
    simt_u64 there = __simt_ballot(simt_line, mask, 1);
    simt_u64 set = __simt_ballot(simt_line, mask, predicate != 0);
    return set == 0 || set == there;
}
#ifdef SIMT_HIP
SIMT_FN simt_u64 __ballot(int predicate, SIMT_LINE) {
    return __simt_ballot(simt_line, __simt_active(), predicate != 0);
}
SIMT_FN int __any(int predicate, SIMT_LINE) {
    return __simt_ballot(simt_line, __simt_active(), predicate != 0) != 0;
}
SIMT_FN int __all(int predicate, SIMT_LINE) {
    return __simt_ballot(simt_line, __simt_active(), predicate == 0) == 0;
}
#endif

#define SIMT_MATCH(type, bits)                                                                     \
    SIMT_FN simt_mask __match_any_sync(simt_mask mask, type value, SIMT_LINE) {                    \
        return (simt_mask)__simt_match(simt_line, mask, bits(value));                              \
    }                                                                                              \
    SIMT_FN simt_mask __match_all_sync(simt_mask mask, type value, int *all, SIMT_LINE) {          \
        simt_u64 there = __simt_ballot(simt_line, mask, 1);                                        \
        *all = __simt_match(simt_line, mask, bits(value)) == there;                                \
        return *all ? (simt_mask)there : 0;                                                        \
    }
SIMT_MATCH(int, (simt_u64)(unsigned))
SIMT_MATCH(unsigned, (simt_u64))
SIMT_MATCH(long, (simt_u64))
SIMT_MATCH(unsigned long, (simt_u64))
SIMT_MATCH(long long, (simt_u64))
SIMT_MATCH(unsigned long long, (simt_u64))
SIMT_MATCH(float, SIMT_FLOAT_BITS)
SIMT_MATCH(double, simt_cast<simt_u64>)
#undef SIMT_MATCH

#define SIMT_REDUCE(name, type, extended, op)                                                      \
    SIMT_FN type name(simt_mask mask, type value, SIMT_LINE) {                                     \
        return (type)__simt_reduce(simt_line, op, mask, (simt_u64)(extended)value);                \
    }
SIMT_REDUCE(__reduce_add_sync, unsigned, unsigned, SIMT_REDUCE_ADD)
SIMT_REDUCE(__reduce_add_sync, int, long long, SIMT_REDUCE_ADD)
SIMT_REDUCE(__reduce_min_sync, unsigned, unsigned, SIMT_REDUCE_MIN_UNSIGNED)
SIMT_REDUCE(__reduce_min_sync, int, long long, SIMT_REDUCE_MIN_SIGNED)
SIMT_REDUCE(__reduce_max_sync, unsigned, unsigned, SIMT_REDUCE_MAX_UNSIGNED)
SIMT_REDUCE(__reduce_max_sync, int, long long, SIMT_REDUCE_MAX_SIGNED)
SIMT_REDUCE(__reduce_and_sync, unsigned, unsigned, SIMT_REDUCE_AND)
SIMT_REDUCE(__reduce_or_sync, unsigned, unsigned, SIMT_REDUCE_OR)
SIMT_REDUCE(__reduce_xor_sync, unsigned, unsigned, SIMT_REDUCE_XOR)
#undef SIMT_REDUCE
