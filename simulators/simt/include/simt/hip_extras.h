// Names of HIP beside those it shares with CUDA: coordinates, votes of all active lanes, atomics
// with orders and scopes, operators of vectors, and the instructions that translations use.
#pragma once
#include "atomics.h"
#include "sync.h"
#include "vector_types.h"
#include "warp.h"

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#define __ballot64 __ballot
template <typename T> SIMT_FN simt_u64 __match_any(T value, SIMT_LINE) {
    return __match_any_sync(__simt_active(), value, simt_line);
}
template <typename T> SIMT_FN simt_u64 __match_all(T value, int *all, SIMT_LINE) {
    return __match_all_sync(__simt_active(), value, all, simt_line);
}

#ifndef __HIP_MEMORY_SCOPE_AGENT
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif
// One memory makes all scopes equal.
#define __hip_atomic_load(at, order, scope) __atomic_load_n(at, order)
#define __hip_atomic_store(at, value, order, scope) __atomic_store_n(at, value, order)
#define __hip_atomic_exchange(at, value, order, scope) __atomic_exchange_n(at, value, order)
#define __hip_atomic_compare_exchange_strong(at, expected, value, good, bad, scope)                \
    __atomic_compare_exchange_n(at, expected, value, false, good, bad)
#define __hip_atomic_compare_exchange_weak(at, expected, value, good, bad, scope)                  \
    __atomic_compare_exchange_n(at, expected, value, true, good, bad)
#define __hip_atomic_fetch_add(at, value, order, scope) __atomic_fetch_add(at, value, order)
#define __hip_atomic_fetch_sub(at, value, order, scope) __atomic_fetch_sub(at, value, order)
#define __hip_atomic_fetch_min(at, value, order, scope) __atomic_fetch_min(at, value, order)
#define __hip_atomic_fetch_max(at, value, order, scope) __atomic_fetch_max(at, value, order)
#define __hip_atomic_fetch_and(at, value, order, scope) __atomic_fetch_and(at, value, order)
#define __hip_atomic_fetch_or(at, value, order, scope) __atomic_fetch_or(at, value, order)
#define __hip_atomic_fetch_xor(at, value, order, scope) __atomic_fetch_xor(at, value, order)

#define __builtin_amdgcn_s_sleep(clocks) __nanosleep(clocks)
#define __builtin_amdgcn_ubfe(value, start, count) __bitextract_u32(value, start, count)

#define SIMT_VECTOR_OPERATOR(name, op)                                                             \
    SIMT_BOTH name##1 operator op(name##1 a, name##1 b) {                                          \
        a.x = a.x op b.x;                                                                          \
        return a;                                                                                  \
    }                                                                                              \
    SIMT_BOTH name##2 operator op(name##2 a, name##2 b) {                                          \
        a.x = a.x op b.x, a.y = a.y op b.y;                                                        \
        return a;                                                                                  \
    }                                                                                              \
    SIMT_BOTH name##3 operator op(name##3 a, name##3 b) {                                          \
        a.x = a.x op b.x, a.y = a.y op b.y, a.z = a.z op b.z;                                      \
        return a;                                                                                  \
    }                                                                                              \
    SIMT_BOTH name##4 operator op(name##4 a, name##4 b) {                                          \
        a.x = a.x op b.x, a.y = a.y op b.y, a.z = a.z op b.z, a.w = a.w op b.w;                    \
        return a;                                                                                  \
    }                                                                                              \
    SIMT_BOTH name##1 &operator op##=(name##1 &a, name##1 b) { return a = a op b; }                \
    SIMT_BOTH name##2 &operator op##=(name##2 &a, name##2 b) { return a = a op b; }                \
    SIMT_BOTH name##3 &operator op##=(name##3 &a, name##3 b) { return a = a op b; }                \
    SIMT_BOTH name##4 &operator op##=(name##4 &a, name##4 b) { return a = a op b; }
#define SIMT_VECTOR_OPERATORS(name)                                                                \
    SIMT_VECTOR_OPERATOR(name, +)                                                                  \
    SIMT_VECTOR_OPERATOR(name, -)                                                                  \
    SIMT_VECTOR_OPERATOR(name, *)                                                                  \
    SIMT_VECTOR_OPERATOR(name, /)
SIMT_VECTOR_OPERATORS(char)
SIMT_VECTOR_OPERATORS(uchar)
SIMT_VECTOR_OPERATORS(short)
SIMT_VECTOR_OPERATORS(ushort)
SIMT_VECTOR_OPERATORS(int)
SIMT_VECTOR_OPERATORS(uint)
SIMT_VECTOR_OPERATORS(long)
SIMT_VECTOR_OPERATORS(ulong)
SIMT_VECTOR_OPERATORS(longlong)
SIMT_VECTOR_OPERATORS(ulonglong)
SIMT_VECTOR_OPERATORS(float)
SIMT_VECTOR_OPERATORS(double)
#undef SIMT_VECTOR_OPERATORS
#undef SIMT_VECTOR_OPERATOR
