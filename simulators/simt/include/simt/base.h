// What every other header stands on: function specifiers and the primitives that engines provide.
//
// They are for clang in its CUDA mode with this processor as the target (frontend.py): device code
// alone is emitted. SIMT_WARP is the number of threads of a warp or wavefront, SIMT_HIP says which
// dialect; SIMT_HOSTED, that the source includes headers of a hosted C++ library.
#pragma once

#ifndef SIMT_WARP
#define SIMT_WARP 32
#endif

#define SIMT_DEVICE __attribute__((device))
#define SIMT_HOST __attribute__((host))
#define __global__ __attribute__((global, annotate("simt_kernel")))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant, section("simt_constant")))
#define __shared__ __attribute__((shared, annotate("simt_shared")))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...)                                                                     \
    __attribute__((launch_bounds(__VA_ARGS__), annotate("simt_bounds", __VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __device_builtin__
#define __cudart_builtin__
#define __restrict __restrict__

// Functions of these headers. Without debug lines of their own an inlined one has its caller's.
#define SIMT_FN static inline __attribute__((always_inline, nodebug)) SIMT_DEVICE
#define SIMT_BOTH static inline __attribute__((always_inline, nodebug)) SIMT_DEVICE SIMT_HOST
#define SIMT_METHOD inline __attribute__((always_inline, nodebug)) SIMT_DEVICE
#define SIMT_BOTH_METHOD inline __attribute__((always_inline, nodebug)) SIMT_DEVICE SIMT_HOST
// Of functions that a hosted library defines for the host, too.
#ifdef SIMT_HOSTED
#define SIMT_MATH SIMT_FN
#else
#define SIMT_MATH SIMT_BOTH
#endif
#define SIMT_LINE const unsigned simt_line = __builtin_LINE()

typedef unsigned long long simt_u64;
#ifdef SIMT_HIP
typedef unsigned long long simt_mask;
#define SIMT_ALL_LANES (SIMT_WARP == 64 ? ~0ull : 0xffffffffull)
#else
typedef unsigned simt_mask;
#define SIMT_ALL_LANES 0xffffffffull
#endif

// Operations of __simt_shuffle and __simt_reduce. Values are bit-cast or extended to 64 bits;
// signed ones are sign-extended for the reductions.
enum { SIMT_SHUFFLE_INDEX, SIMT_SHUFFLE_UP, SIMT_SHUFFLE_DOWN, SIMT_SHUFFLE_XOR };
enum {
    SIMT_REDUCE_ADD,
    SIMT_REDUCE_MIN_UNSIGNED,
    SIMT_REDUCE_MAX_UNSIGNED,
    SIMT_REDUCE_AND,
    SIMT_REDUCE_OR,
    SIMT_REDUCE_XOR,
    SIMT_REDUCE_MIN_SIGNED,
    SIMT_REDUCE_MAX_SIGNED
};
// Codes of __simt_trap.
enum { SIMT_TRAP_ASSERT = 1, SIMT_TRAP_TRAP = 2 };

extern "C" {
SIMT_DEVICE unsigned __simt_tid(unsigned axis) __attribute__((const));
SIMT_DEVICE unsigned __simt_ctaid(unsigned axis) __attribute__((const));
SIMT_DEVICE unsigned __simt_ntid(unsigned axis) __attribute__((const));
SIMT_DEVICE unsigned __simt_nctaid(unsigned axis) __attribute__((const));
SIMT_DEVICE unsigned __simt_lane(void) __attribute__((const));
SIMT_DEVICE void __simt_sync_block(unsigned line);
SIMT_DEVICE unsigned __simt_sync_count(unsigned line, unsigned predicate);
SIMT_DEVICE void __simt_sync_warp(unsigned line, simt_u64 mask);
SIMT_DEVICE simt_u64 __simt_shuffle(
    unsigned line, unsigned op, simt_u64 mask, simt_u64 value, unsigned arg, unsigned width);
SIMT_DEVICE simt_u64 __simt_ballot(unsigned line, simt_u64 mask, unsigned predicate);
SIMT_DEVICE simt_u64 __simt_match(unsigned line, simt_u64 mask, simt_u64 value);
SIMT_DEVICE simt_u64 __simt_reduce(unsigned line, unsigned op, simt_u64 mask, simt_u64 value);
SIMT_DEVICE simt_u64 __simt_active(void);
SIMT_DEVICE void __simt_yield(unsigned line);
SIMT_DEVICE void __simt_trap(unsigned line, unsigned code);
SIMT_DEVICE void *__simt_dynamic_shared(void);
}

template <class To, class From> SIMT_BOTH To simt_cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast is between types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}
