// The primitives of include/simt/base.h.
#pragma once

#ifdef SIMT_COUNTED
// Instrumented code is linked to them later (counting.py).
#define SIMT_PRIMITIVE extern "C" inline __attribute__((always_inline, used, nodebug)) SIMT_DEVICE
#else
#define SIMT_PRIMITIVE extern "C" inline __attribute__((always_inline, nodebug)) SIMT_DEVICE
#endif

SIMT_PRIMITIVE unsigned __simt_tid(unsigned axis) {
    if (SIMT_Y * SIMT_Z == 1) return axis == 0 ? simt_self()->thread : 0;
    return simt_self()->tid[axis];
}
SIMT_PRIMITIVE unsigned __simt_ctaid(unsigned axis) { return simt_self()->block->ctaid[axis]; }
SIMT_PRIMITIVE unsigned __simt_ntid(unsigned axis) {
    return axis == 0 ? SIMT_X : axis == 1 ? SIMT_Y : SIMT_Z;
}
SIMT_PRIMITIVE unsigned __simt_nctaid(unsigned axis) {
    return simt_self()->block->launch->grid[axis];
}
SIMT_PRIMITIVE unsigned __simt_lane(void) { return simt_self()->lane; }
SIMT_PRIMITIVE void __simt_sync_block(unsigned line) { simt_arrive(simt_self(), line); }
SIMT_PRIMITIVE unsigned __simt_sync_count(unsigned line, unsigned predicate) {
    SimtFiber *self = simt_self();
    self->block->counted += predicate != 0;
    simt_arrive(self, line);
    return simt_self()->block->count_result;
}
SIMT_PRIMITIVE void __simt_sync_warp(unsigned line, simt_u64 mask) {
    simt_collective(line, SIMT_SYNC, 0, mask, 0, 0, 0);
}
SIMT_PRIMITIVE simt_u64 __simt_shuffle(unsigned line, unsigned op, simt_u64 mask, simt_u64 value,
                                       unsigned arg, unsigned width) {
    return simt_collective(line, SIMT_SHUFFLE, op, mask, value, arg, width);
}
SIMT_PRIMITIVE simt_u64 __simt_ballot(unsigned line, simt_u64 mask, unsigned predicate) {
    return simt_collective(line, SIMT_BALLOT, 0, mask, predicate != 0, 0, 0);
}
SIMT_PRIMITIVE simt_u64 __simt_match(unsigned line, simt_u64 mask, simt_u64 value) {
    return simt_collective(line, SIMT_MATCH, 0, mask, value, 0, 0);
}
SIMT_PRIMITIVE simt_u64 __simt_reduce(unsigned line, unsigned op, simt_u64 mask, simt_u64 value) {
    return simt_collective(line, SIMT_REDUCTION, op, mask, value, 0, 0);
}
SIMT_PRIMITIVE simt_u64 __simt_active(void) {
    SimtFiber *self = simt_self();
    SimtWarpState *warp = self->state;
    void *place;
    __asm__ volatile("leaq 1f(%%rip), %0\n1:" : "=r"(place));
    warp->fibers[self->lane] = self, warp->places[self->lane] = place;
    warp->at_active |= 1ull << self->lane;
    simt_next(self, &self->stack, warp);
    return warp->results[self->lane];
}
SIMT_PRIMITIVE void __simt_yield(unsigned line) {
    SimtFiber *self = simt_self();
    if (__builtin_expect((++self->spins & (SIMT_SPINS - 1)) == 0, 0)) simt_spin(self, line);
}
SIMT_PRIMITIVE void __simt_trap(unsigned line, unsigned code) {
    simt_fail(simt_self(), SIMT_TRAPPED, line, code);
}
SIMT_PRIMITIVE void *__simt_dynamic_shared(void) {
    return simt_self()->block->shared + SIMT_STATIC_SHARED;
}

// What the rewritten IR calls (rewriting.py): memory of worker and module, and a turn for
// the other threads after a read that a loop may be waiting for.
#define SIMT_CALLED extern "C" __attribute__((always_inline, used, nodebug)) inline SIMT_DEVICE
SIMT_CALLED char *simt_shared_base() { return simt_self()->block->shared; }
SIMT_CALLED void **simt_globals() { return simt_self()->block->launch->globals; }
SIMT_CALLED void simt_poll(unsigned line) { __simt_yield(line); }
