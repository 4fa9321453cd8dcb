// Atomic functions; all relaxed, as in CUDA. The suffixes _block and _system name scopes, which one
// memory makes equal.
#pragma once
#include "warp.h"

#define SIMT_SCOPES(M)                                                                             \
    M() M(_block) M(_system)
#define SIMT_ATOMIC(name, builtin, type)                                                           \
    SIMT_FN type name(type *at, type value) { return builtin(at, value, __ATOMIC_RELAXED); }       \
    SIMT_FN type name##_block(type *at, type value) {                                              \
        return builtin(at, value, __ATOMIC_RELAXED);                                               \
    }                                                                                              \
    SIMT_FN type name##_system(type *at, type value) {                                             \
        return builtin(at, value, __ATOMIC_RELAXED);                                               \
    }
#define SIMT_ATOMIC_INTEGERS(name, builtin)                                                        \
    SIMT_ATOMIC(name, builtin, int)                                                                \
    SIMT_ATOMIC(name, builtin, unsigned)                                                           \
    SIMT_ATOMIC(name, builtin, unsigned long long)
SIMT_ATOMIC_INTEGERS(atomicAdd, __atomic_fetch_add)
SIMT_ATOMIC(atomicAdd, __atomic_fetch_add, float)
SIMT_ATOMIC(atomicAdd, __atomic_fetch_add, double)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, int)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned)
SIMT_ATOMIC_INTEGERS(atomicExch, __atomic_exchange_n)
SIMT_ATOMIC_INTEGERS(atomicMin, __atomic_fetch_min)
SIMT_ATOMIC(atomicMin, __atomic_fetch_min, long long)
SIMT_ATOMIC_INTEGERS(atomicMax, __atomic_fetch_max)
SIMT_ATOMIC(atomicMax, __atomic_fetch_max, long long)
SIMT_ATOMIC_INTEGERS(atomicAnd, __atomic_fetch_and)
SIMT_ATOMIC_INTEGERS(atomicOr, __atomic_fetch_or)
SIMT_ATOMIC_INTEGERS(atomicXor, __atomic_fetch_xor)
#ifdef SIMT_HIP
SIMT_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned long)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned long long)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, float)
SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, double)
SIMT_ATOMIC(atomicMin, __atomic_fetch_min, float)
SIMT_ATOMIC(atomicMin, __atomic_fetch_min, double)
SIMT_ATOMIC(atomicMax, __atomic_fetch_max, float)
SIMT_ATOMIC(atomicMax, __atomic_fetch_max, double)
SIMT_ATOMIC(unsafeAtomicAdd, __atomic_fetch_add, float)
SIMT_ATOMIC(unsafeAtomicAdd, __atomic_fetch_add, double)
#endif

#define SIMT_ATOMIC_FLOAT_EXCHANGE(scope)                                                          \
    SIMT_FN float atomicExch##scope(float *at, float value) {                                      \
        return simt_cast<float>(                                                                   \
            __atomic_exchange_n((unsigned *)at, simt_cast<unsigned>(value), __ATOMIC_RELAXED));    \
    }
SIMT_SCOPES(SIMT_ATOMIC_FLOAT_EXCHANGE)

#define SIMT_COMPARE_AND_SWAP(name, type)                                                          \
    SIMT_FN type name(type *at, type expected, type value) {                                       \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED,                 \
                                    __ATOMIC_RELAXED);                                             \
        return expected;                                                                           \
    }
#define SIMT_ATOMIC_CAS(scope)                                                                     \
    SIMT_COMPARE_AND_SWAP(atomicCAS##scope, int)                                                   \
    SIMT_COMPARE_AND_SWAP(atomicCAS##scope, unsigned)                                              \
    SIMT_COMPARE_AND_SWAP(atomicCAS##scope, unsigned long long)                                    \
    SIMT_COMPARE_AND_SWAP(atomicCAS##scope, unsigned short)
SIMT_SCOPES(SIMT_ATOMIC_CAS)

// Wrapping counters: up to `limit`, then 0; and down from `limit`.
#define SIMT_ATOMIC_WRAPPING(scope)                                                                \
    SIMT_FN unsigned atomicInc##scope(unsigned *at, unsigned limit) {                              \
        unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);                                      \
        while (!__atomic_compare_exchange_n(at, &old, old >= limit ? 0 : old + 1, false,           \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
        return old;                                                                                \
    }                                                                                              \
    SIMT_FN unsigned atomicDec##scope(unsigned *at, unsigned limit) {                              \
        unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);                                      \
        while (!__atomic_compare_exchange_n(at, &old,                                              \
                                            old == 0 || old > limit ? limit : old - 1, false,      \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
        return old;                                                                                \
    }
SIMT_SCOPES(SIMT_ATOMIC_WRAPPING)

// Loads and stores with cache hints: what is volatile in PTX is volatile here.
template <class T> SIMT_FN T __ldg(const T *at) { return *at; }
template <class T> SIMT_FN T __ldca(const T *at) { return *at; }
template <class T> SIMT_FN T __ldcg(const T *at) { return *at; }
template <class T> SIMT_FN T __ldcs(const T *at) { return *at; }
template <class T> SIMT_FN T __ldlu(const T *at) { return *at; }
template <class T> SIMT_FN T __ldcv(const T *at) { return *(const volatile T *)at; }
template <class T> SIMT_FN void __stwb(T *at, T value) { *at = value; }
template <class T> SIMT_FN void __stcg(T *at, T value) { *at = value; }
template <class T> SIMT_FN void __stcs(T *at, T value) { *at = value; }
template <class T> SIMT_FN void __stwt(T *at, T value) { *(volatile T *)at = value; }

SIMT_FN unsigned long long __cvta_generic_to_shared(const void *at) {
    return (unsigned long long)at;
}
SIMT_FN unsigned long long __cvta_generic_to_global(const void *at) {
    return (unsigned long long)at;
}
SIMT_FN void __prefetch_global_l1(const void *) {}
SIMT_FN void __prefetch_global_l2(const void *) {}
