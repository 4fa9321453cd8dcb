// Barriers of a block and of a warp, fences, and what a waiting loop may call.
#pragma once
#include "places.h"

SIMT_FN void __syncthreads(SIMT_LINE) { __simt_sync_block(simt_line); }
SIMT_FN int __syncthreads_count(int predicate, SIMT_LINE) {
    return (int)__simt_sync_count(simt_line, predicate != 0);
}
SIMT_FN int __syncthreads_and(int predicate, SIMT_LINE) {
    return __simt_sync_count(simt_line, predicate == 0) == 0;
}
SIMT_FN int __syncthreads_or(int predicate, SIMT_LINE) {
    return __simt_sync_count(simt_line, predicate != 0) != 0;
}
SIMT_FN void __syncwarp(simt_mask mask = (simt_mask)SIMT_ALL_LANES, SIMT_LINE) {
    __simt_sync_warp(simt_line, mask);
}
SIMT_FN simt_mask __activemask() { return (simt_mask)__simt_active(); }

SIMT_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_FN void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

SIMT_FN void __nanosleep(unsigned, SIMT_LINE) { __simt_yield(simt_line); }
SIMT_FN void __trap(SIMT_LINE) { __simt_trap(simt_line, SIMT_TRAP_TRAP); }
SIMT_FN void __brkpt(SIMT_LINE) { __simt_trap(simt_line, SIMT_TRAP_TRAP); }
SIMT_FN long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
SIMT_FN long clock() { return (long)__builtin_ia32_rdtsc(); }
#ifdef SIMT_HIP
SIMT_FN long long wall_clock64() { return (long long)__builtin_ia32_rdtsc(); }
#endif
