// Where fibers wait: barriers, operations of a warp, spins; and what is wrong when none can go on.
#pragma once

#ifdef SIMT_DESCENDING
#define SIMT_FIRST_WARP (SIMT_WARPS - 1)
#else
#define SIMT_FIRST_WARP 0
#endif

SIMT_FAST unsigned simt_following(unsigned warp) {
#ifdef SIMT_DESCENDING
    return warp == 0 ? SIMT_WARPS - 1 : warp - 1;
#else
    return warp + 1 == SIMT_WARPS ? 0 : warp + 1;
#endif
}

SIMT_FAST void simt_release(SimtBlock *block) {
    SIMT_EVENT(block, SIMT_BARRIER, 0, block->barrier_line);
    for (unsigned w = 0; w < SIMT_WARPS; w++) {
        block->warps[w].ready |= block->warps[w].at_block;
        block->warps[w].at_block = 0;
    }
    block->arrived = 0, block->spinning_since = 0;
    block->count_result = block->counted, block->counted = 0;
}

SIMT_FAST void simt_arrive(SimtFiber *self, unsigned line) {
    SimtBlock *block = self->block;
    SimtWarpState *warp = self->state;
    warp->fibers[self->lane] = self, self->line = line;
    if (block->arrived == 0) {
        block->barrier_line = line, block->barrier_thread = self->thread;
    } else if (__builtin_expect(block->barrier_line != line, 0)) {
        unsigned first = block->barrier_thread;
        simt_fail(block->warps[first / SIMT_WARP].fibers[first % SIMT_WARP], SIMT_DIVERGENT,
                  block->barrier_line, line, self->thread);
    }
    warp->at_block |= 1ull << self->lane;
    if (++block->arrived == block->alive) {
        simt_release(block);
        simt_from(self, &self->stack, &block->warps[SIMT_FIRST_WARP]);
    } else {
        simt_next(self, &self->stack, warp);
    }
}

SIMT_FAST simt_u64 simt_reduced(unsigned op, simt_u64 a, simt_u64 b) {
    switch (op) {
    case SIMT_REDUCE_ADD: return a + b;
    case SIMT_REDUCE_MIN_UNSIGNED: return a < b ? a : b;
    case SIMT_REDUCE_MAX_UNSIGNED: return a > b ? a : b;
    case SIMT_REDUCE_AND: return a & b;
    case SIMT_REDUCE_OR: return a | b;
    case SIMT_REDUCE_XOR: return a ^ b;
    case SIMT_REDUCE_MIN_SIGNED: return (long long)a < (long long)b ? a : b;
    default: return (long long)a > (long long)b ? a : b;
    }
}

// The lane that a shuffle of `lane` reads; itself where that is outside of its segment.
SIMT_FAST unsigned simt_source(unsigned op, unsigned lane, unsigned arg, unsigned width) {
    unsigned within = lane & (width - 1), base = lane - within;
    switch (op) {
    case SIMT_SHUFFLE_INDEX: return base + (arg & (width - 1));
    case SIMT_SHUFFLE_UP: return arg <= within ? lane - arg : lane;
    case SIMT_SHUFFLE_DOWN: return arg < width - within ? lane + arg : lane;
    default: {
        unsigned other = lane ^ arg;
        return other < base + width ? other : lane;
    }
    }
}

// A whole warp that shuffles alike.
SIMT_FAST void simt_shuffle_all(SimtWarpState *warp, SimtAsked asked, unsigned op) {
    unsigned arg = simt_argument(asked), width = simt_width(asked);
    if (op == SIMT_SHUFFLE_UP && width == SIMT_WARP && arg < SIMT_WARP) {
        for (unsigned lane = 0; lane < arg; lane++) warp->results[lane] = warp->values[lane];
        for (unsigned lane = arg; lane < SIMT_WARP; lane++) {
            warp->results[lane] = warp->values[lane - arg];
        }
        return;
    }
    for (unsigned lane = 0; lane < SIMT_WARP; lane++) {
        unsigned source = simt_source(op, lane, arg, width);
        warp->results[lane] = warp->values[source & (SIMT_WARP - 1)];
    }
}

SIMT_SLOW void simt_shuffle_group(SimtWarpState *warp, simt_u64 group) {
    for (simt_u64 left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        SimtAsked own = warp->asked[lane];
        unsigned source = simt_source(simt_kind(own), lane, simt_argument(own), simt_width(own));
        // A lane that isn't in the group leaves the result undefined; here it is the own value.
        bool there = source < SIMT_WARP && (group >> source & 1);
        warp->results[lane] = warp->values[there ? source : lane];
    }
}

SIMT_SLOW void simt_match_group(SimtWarpState *warp, simt_u64 group) {
    for (simt_u64 left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        simt_u64 same = 0;
        for (simt_u64 other = group; other; other &= other - 1) {
            unsigned o = (unsigned)__builtin_ctzll(other);
            same |= (simt_u64)(warp->values[o] == warp->values[lane]) << o;
        }
        warp->results[lane] = same;
    }
}

SIMT_FAST void simt_give(SimtWarpState *warp, simt_u64 group, simt_u64 result) {
    for (simt_u64 left = group; left; left &= left - 1) {
        warp->results[__builtin_ctzll(left)] = result;
    }
}

// Results of all lanes of a group, by the one that came last.
SIMT_FAST void simt_evaluate(SimtWarpState *warp, simt_u64 group, unsigned operation, bool alike) {
    if (operation == SIMT_SYNC) return;
    if (operation == SIMT_SHUFFLE) {
        if (alike && group == ~0ull >> (64 - SIMT_WARP)) {
            SimtAsked asked = warp->first;
            switch (simt_kind(asked)) {
            case SIMT_SHUFFLE_UP: simt_shuffle_all(warp, asked, SIMT_SHUFFLE_UP); break;
            case SIMT_SHUFFLE_DOWN: simt_shuffle_all(warp, asked, SIMT_SHUFFLE_DOWN); break;
            case SIMT_SHUFFLE_XOR: simt_shuffle_all(warp, asked, SIMT_SHUFFLE_XOR); break;
            default: simt_shuffle_all(warp, asked, SIMT_SHUFFLE_INDEX);
            }
        } else {
            simt_shuffle_group(warp, group);
        }
        return;
    }
    if (operation == SIMT_MATCH) {
        simt_match_group(warp, group);
        return;
    }
    unsigned first = (unsigned)__builtin_ctzll(group);
    simt_u64 all = operation == SIMT_BALLOT ? 0 : warp->values[first];
    for (simt_u64 left = group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        simt_u64 value = warp->values[lane];
        if (operation == SIMT_BALLOT) all |= value << lane;
        else if (lane != first) all = simt_reduced(simt_kind(warp->asked[lane]), all, value);
    }
    simt_give(warp, group, all);
}

// Lanes that wait with the same mask for the same operation.
SIMT_SLOW simt_u64 simt_group(SimtWarpState *warp, simt_u64 mask, unsigned operation) {
    simt_u64 group = 0;
    for (simt_u64 left = warp->at_warp & mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        SimtAsked asked = warp->asked[lane];
        bool same = asked.mask == mask && simt_operation(asked) == operation;
        group |= (simt_u64)same << lane;
    }
    return group;
}

// A group is complete, and other lanes wait at the same place with a mask that has some of it.
SIMT_SLOW void simt_check_masks(SimtWarpState *warp, simt_u64 group) {
    unsigned first = (unsigned)__builtin_ctzll(group);
    for (simt_u64 left = warp->at_warp & ~group; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        SimtFiber *fiber = warp->fibers[lane];
        bool alike = simt_operation(warp->asked[lane]) == simt_operation(warp->asked[first]);
        if (alike && fiber->line == warp->fibers[first]->line && (warp->asked[lane].mask & group)) {
            simt_fail(fiber, SIMT_MASK, fiber->line, warp->asked[lane].mask);
        }
    }
}

// Releases the group that waits with that mask, if it is complete.
SIMT_FAST bool simt_complete(SimtBlock *block, SimtWarpState *warp, simt_u64 mask,
                             unsigned operation) {
    simt_u64 wanted = mask & warp->alive;
    if ((warp->at_warp & wanted) != wanted) return false;
    simt_u64 group = warp->mixed ? simt_group(warp, mask, operation) : wanted;
    if (group != wanted) return false;
    if (warp->mixed) simt_check_masks(warp, group);
    simt_evaluate(warp, group, operation, !warp->mixed);
    if (operation == SIMT_SYNC) {
        SIMT_EVENT(block, SIMT_WARP_BARRIER, (unsigned)(warp - block->warps) * SIMT_WARP, group);
    }
    warp->at_warp &= ~group, warp->ready |= group;
    block->spinning_since = 0;
    return true;
}

SIMT_FAST simt_u64 simt_collective(unsigned line, unsigned operation, unsigned op, simt_u64 mask,
                                   simt_u64 value, unsigned arg, unsigned width) {
    SimtFiber *self = simt_self();
    SimtBlock *block = self->block;
    SimtWarpState *warp = self->state;
    unsigned lane = self->lane;
    SimtAsked asked = {mask, operation | op << 8 | width << 16 | (simt_u64)arg << 32};
    warp->fibers[lane] = self, self->line = line;
    warp->values[lane] = value, warp->asked[lane] = asked;
    if (__builtin_expect(!(mask >> lane & 1), 0)) simt_fail(self, SIMT_MASK, line, mask);
    if (warp->at_warp == 0) {
        warp->first = asked, warp->mixed = false;
    } else {
        warp->mixed |= warp->first.mask != mask || warp->first.key != asked.key;
    }
    warp->at_warp |= 1ull << lane;
    if (simt_complete(block, warp, mask, operation)) simt_from(self, &self->stack, warp);
    else simt_next(self, &self->stack, warp);
    return warp->results[lane];
}

// Lanes at the same call of __activemask, once no other lane of the warp can run.
SIMT_FAST bool simt_resolve_active(SimtWarpState *warp) {
    if (!warp->at_active) return false;
    void *place = warp->places[__builtin_ctzll(warp->at_active)];
    simt_u64 group = 0;
    for (simt_u64 left = warp->at_active; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        group |= (simt_u64)(warp->places[lane] == place) << lane;
    }
    simt_give(warp, group, group);
    warp->at_active &= ~group, warp->ready |= group;
    return true;
}

// Lanes that exited are waited for no longer.
SIMT_FAST bool simt_settle(SimtBlock *block, SimtWarpState *warp) {
    for (simt_u64 left = warp->at_warp; left; left &= left - 1) {
        SimtAsked *asked = &warp->asked[__builtin_ctzll(left)];
        warp->mixed = true;
        if (simt_complete(block, warp, asked->mask, simt_operation(*asked))) return true;
    }
    return simt_resolve_active(warp);
}

// Nobody can run: who waits for whom.
SIMT_SLOW void simt_stuck(SimtFiber *self) {
    SimtBlock *block = self->block;
    for (unsigned w = 0; w < SIMT_WARPS; w++) {
        SimtWarpState *warp = &block->warps[w];
        for (simt_u64 left = warp->at_warp; left; left &= left - 1) {
            unsigned number = (unsigned)__builtin_ctzll(left);
            SimtAsked *own = &warp->asked[number];
            SimtFiber *fiber = warp->fibers[number];
            simt_u64 group = simt_group(warp, own->mask, simt_operation(*own));
            simt_u64 missing = own->mask & warp->alive & ~group;
            unsigned other = (unsigned)__builtin_ctzll(missing ? missing : own->mask);
            bool waits = warp->at_warp >> other & 1;
            if (waits && warp->asked[other].mask == own->mask) {
                simt_fail(fiber, SIMT_MASK, fiber->line, own->mask);
            }
            simt_u64 line = warp->alive >> other & 1 ? warp->fibers[other]->line : 0;
            simt_fail(fiber, SIMT_DEADLOCK, fiber->line, line, w * SIMT_WARP + other, own->mask);
        }
    }
    simt_fail(self, SIMT_DEADLOCK, block->barrier_line);
}

// The warp has nobody ready: settle it, go to another, or end the block.
SIMT_SLOW void simt_other(SimtFiber *self, void **save, unsigned number) {
    SimtBlock *block = self->block;
    if (self->block->alive == 0) {
        simt_switch(save, block->home);
        return;
    }
    for (unsigned tried = 0; tried <= SIMT_WARPS; tried++) {
        SimtWarpState *warp = &block->warps[number];
        if (warp->ready || simt_settle(block, warp)) {
            simt_run(self, save, warp, simt_first(warp->ready));
            return;
        }
        number = simt_following(number);
    }
    if (block->arrived && block->arrived == block->alive) {
        simt_release(block);
        simt_other(self, save, 0);
        return;
    }
    simt_stuck(self);
}

// After a thread's end: its stack is free.
SIMT_SLOW void simt_leave(SimtFiber *self) {
    SimtBlock *block = self->block;
    block->free[block->free_count++] = self;
    void *nowhere;
    SimtWarpState *warp = self->state;
    if (block->arrived && block->arrived == block->alive) {
        simt_release(block);
        simt_from(self, &nowhere, &block->warps[SIMT_FIRST_WARP]);
    }
    if (!warp->ready) simt_settle(block, warp);
    simt_next(self, &nowhere, warp);
}

SIMT_SLOW void simt_spin(SimtFiber *self, unsigned line) {
    SimtBlock *block = self->block;
    SimtWarpState *warp = self->state;
    if (__atomic_load_n(&block->launch->stop, __ATOMIC_RELAXED)) {
        simt_fail(self, SIMT_STOPPED, line);
    }
    if (__atomic_load_n(&block->launch->status, __ATOMIC_RELAXED) != SIMT_OK) {
        void *nowhere;
        simt_switch(&nowhere, block->home);
    }
    simt_u64 now = __builtin_ia32_rdtsc();
    if (block->spinning_since == 0) block->spinning_since = now;
    if (now - block->spinning_since > SIMT_PATIENCE) simt_fail(self, SIMT_STOPPED, line);
    __builtin_ia32_pause();
    // Everybody else first: the lanes that have not spun, then the next warp.
    simt_u64 bit = 1ull << self->lane;
    warp->fibers[self->lane] = self, self->line = line;
    unsigned number = self->warp;
    simt_u64 others = warp->ready & ~(bit | (bit - 1));
    warp->ready |= bit;
    for (unsigned tried = 0; tried <= SIMT_WARPS; tried++) {
        simt_u64 ready = tried == 0 ? others : block->warps[number].ready;
        if (ready) {
            simt_run(self, &self->stack, &block->warps[number], (unsigned)__builtin_ctzll(ready));
            return;
        }
        number = number + 1 == SIMT_WARPS ? 0 : number + 1;
    }
}

SIMT_SLOW void simt_block(SimtBlock *block, simt_u64 number) {
    SimtLaunch *launch = block->launch;
    block->number = number;
#ifdef SIMT_COUNTED
    simt_choose(block, number);
#endif
    block->ctaid[0] = (unsigned)(number % launch->grid[0]);
    block->ctaid[1] = (unsigned)(number / launch->grid[0] % launch->grid[1]);
    block->ctaid[2] = (unsigned)(number / launch->grid[0] / launch->grid[1]);
    block->alive = SIMT_THREADS, block->free_count = SIMT_THREADS;
    block->arrived = block->counted = 0, block->spinning_since = 0;
    for (unsigned w = 0; w < SIMT_WARPS; w++) {
        SimtWarpState *warp = &block->warps[w];
        unsigned left = SIMT_THREADS - w * SIMT_WARP;
        simt_u64 all = left >= 64 || left >= SIMT_WARP ? ~0ull >> (64 - SIMT_WARP)
                                                       : (1ull << left) - 1;
        warp->ready = warp->fresh = warp->alive = all;
        warp->at_block = warp->at_warp = warp->at_active = 0, warp->number = w;
    }
    SimtFiber start;
    start.block = block;
    simt_from(&start, &block->home, &block->warps[SIMT_FIRST_WARP]);
}

extern "C" SIMT_DEVICE __attribute__((nodebug)) void simt_entry(SimtLaunch *launch,
                                                                SimtWorker *worker) {
    simt_u64 base = ((simt_u64)worker->stacks + SIMT_STACK_BYTES - 1) & ~(SIMT_STACK_BYTES - 1ull);
    SimtBlock *block = (SimtBlock *)worker->spill;
    block->launch = launch, block->worker = worker, block->shared = worker->shared;
    for (unsigned t = 0; t < SIMT_THREADS; t++) {
        SimtFiber *fiber = simt_fiber_of(base + (simt_u64)t * SIMT_STACK_BYTES);
        fiber->block = block;
        block->free[SIMT_THREADS - 1 - t] = fiber;
    }
    for (;;) {
        if (__atomic_load_n(&launch->stop, __ATOMIC_RELAXED) ||
            __atomic_load_n(&launch->status, __ATOMIC_RELAXED) != SIMT_OK) {
            return;
        }
        simt_u64 number = __atomic_fetch_add(&launch->next, 1, __ATOMIC_SEQ_CST);
        if (number >= launch->blocks) return;
        simt_block(block, number);
    }
}
#include "primitives.h"
