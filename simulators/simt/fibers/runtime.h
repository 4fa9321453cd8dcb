// The engine `fibers`: every thread of a block on a stack of its own. This is compiled with the
// kernel, so that its primitives are inlined. SIMT_X, SIMT_Y, SIMT_Z are the block's shape,
// SIMT_STACK_BYTES a power of two, SIMT_STATIC_SHARED bytes of static shared memory;
// SIMT_DESCENDING runs threads from the last to the first.
//
// Lazy fibers: a stack runs one thread after the other until one of them waits. A stack's highest
// bytes hold its Fiber; as stacks are aligned to their size, a thread finds its own by its stack
// pointer, which costs no thread-local variable. Fibers and the frames below them lie at different
// offsets, so that they don't compete for the same cache sets, and share a page. The next thread is
// the next lane of the own warp that can run, else the first of the next warp, so that threads come
// in ascending order between any two barriers.
#pragma once
#include "launch.h"
#include "simt/base.h"

#define SIMT_THREADS (SIMT_X * SIMT_Y * SIMT_Z)
#define SIMT_WARPS ((SIMT_THREADS + SIMT_WARP - 1) / SIMT_WARP)
#define SIMT_FAST static inline __attribute__((always_inline, nodebug)) SIMT_DEVICE
#define SIMT_SLOW static __attribute__((noinline, nodebug)) SIMT_DEVICE
// Reads after which a thread lets others run (a power of two), and ticks after which spinning that
// nothing interrupts is given up (about 5 s at 3 GHz).
enum { SIMT_SPINS = 32 };
#define SIMT_PATIENCE (15ull << 30)

enum SimtOperation { SIMT_SYNC, SIMT_SHUFFLE, SIMT_BALLOT, SIMT_MATCH, SIMT_REDUCTION };

struct SimtBlock;
struct SimtWarpState;
struct __attribute__((aligned(64))) SimtFiber {
    void *stack;
    SimtBlock *block;
    SimtWarpState *state;
    unsigned thread, lane, warp, line, spins;
    unsigned tid[3];
};
// What a lane of a warp operation asks for: its mask and, in one number, operation (8 bits), kind
// (8), width (16) and argument (32).
struct SimtAsked {
    simt_u64 mask, key;
};
SIMT_FAST unsigned simt_operation(SimtAsked asked) { return (unsigned)asked.key & 255; }
SIMT_FAST unsigned simt_kind(SimtAsked asked) { return (unsigned)(asked.key >> 8) & 255; }
SIMT_FAST unsigned simt_width(SimtAsked asked) { return (unsigned)(asked.key >> 16) & 65535; }
SIMT_FAST unsigned simt_argument(SimtAsked asked) { return (unsigned)(asked.key >> 32); }
struct SimtWarpState {
    simt_u64 ready, fresh, at_block, at_warp, at_active, alive;
    // What the first of the waiting lanes asks for, and whether another asks for something else.
    SimtAsked first;
    bool mixed;
    unsigned number;
    SimtFiber *fibers[SIMT_WARP];
    simt_u64 values[SIMT_WARP], results[SIMT_WARP];
    SimtAsked asked[SIMT_WARP];
    void *places[SIMT_WARP];
};
struct SimtBlock {
    SimtLaunch *launch;
    SimtWorker *worker;
    char *shared;
    unsigned ctaid[3];
    unsigned alive, arrived, counted, count_result, free_count;
    unsigned barrier_line, barrier_thread;
    simt_u64 number, spinning_since;
#ifdef SIMT_COUNTED
    // Of a block that is sampled; else null.
    struct SimtTrace *trace;
#endif
    void *home;
    SimtFiber *free[SIMT_THREADS];
    SimtWarpState warps[SIMT_WARPS];
};

extern "C" SIMT_DEVICE void simt_call(void **params);
#ifdef SIMT_COUNTED
extern "C" SIMT_DEVICE void simt_call_counted(void **params);
#endif
SIMT_SLOW void simt_leave(SimtFiber *self);
SIMT_SLOW void simt_other(SimtFiber *self, void **save, unsigned warp);

SIMT_FAST SimtFiber *simt_fiber_of(simt_u64 address) {
    simt_u64 number = address / SIMT_STACK_BYTES & 31;
    return (SimtFiber *)((address | (SIMT_STACK_BYTES - 1)) - 63 - number * sizeof(SimtFiber));
}

SIMT_FAST SimtFiber *simt_self() {
    simt_u64 stack;
    __asm__("movq %%rsp, %0" : "=r"(stack));
    return simt_fiber_of(stack);
}

// Saves where it is, goes on where another stack was saved. Inlined: each place has a jump of its
// own that the processor can predict. What a function may change is all changed, so that nothing
// is saved that isn't needed.
SIMT_FAST void simt_switch(void **save, void *load) {
    __asm__ volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "pushq %%rbp\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rbp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "1:"
        : "+D"(save), "+S"(load)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
          "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

SIMT_FAST unsigned simt_first(simt_u64 lanes) {
#ifdef SIMT_DESCENDING
    return 63 - (unsigned)__builtin_clzll(lanes);
#else
    return (unsigned)__builtin_ctzll(lanes);
#endif
}

// The lane after one; past the last one, one that is never ready or a wrong guess.
SIMT_FAST unsigned simt_neighbour(unsigned lane) {
#ifdef SIMT_DESCENDING
    return (lane - 1) & 63;
#else
    return (lane + 1) & 63;
#endif
}

SIMT_SLOW void simt_fail(SimtFiber *self, int code, simt_u64 line, simt_u64 third = 0,
                         simt_u64 fourth = 0, simt_u64 fifth = 0) {
    SimtBlock *block = self->block;
    SimtLaunch *launch = block->launch;
    long long none = SIMT_OK;
    if (__atomic_compare_exchange_n(&launch->status, &none, (long long)SIMT_CLAIMED, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        launch->detail[0] = line;
        launch->detail[1] = block->number;
        launch->detail[2] = self->thread;
        launch->detail[3] = third;
        launch->detail[4] = fourth;
        launch->detail[5] = fifth;
        __atomic_store_n(&launch->status, (long long)code, __ATOMIC_SEQ_CST);
    }
    void *nowhere;
    simt_switch(&nowhere, block->home);
}

SIMT_FAST void simt_begin(SimtFiber *fiber, SimtWarpState *warp, unsigned lane) {
    unsigned thread = warp->number * SIMT_WARP + lane;
    fiber->state = warp;
    fiber->thread = thread, fiber->warp = warp->number, fiber->lane = lane, fiber->spins = 0;
    if (SIMT_Y * SIMT_Z > 1) {
        fiber->tid[0] = thread % SIMT_X;
        fiber->tid[1] = thread / SIMT_X % SIMT_Y;
        fiber->tid[2] = thread / (SIMT_X * SIMT_Y);
    }
}

// Runs fresh threads on this stack, until one that waits elsewhere comes first.
SIMT_SLOW void simt_threads() {
    SimtFiber *self = simt_self();
    for (;;) {
#ifdef SIMT_COUNTED
        if (__builtin_expect(self->block->trace != 0, 0)) {
            simt_call_counted(self->block->launch->params);
        } else
#endif
        simt_call(self->block->launch->params);
        SimtWarpState *warp = self->state;
        simt_u64 bit = 1ull << self->lane;
        warp->alive &= ~bit;
        self->block->alive--;
        if ((warp->at_warp | warp->at_active | self->block->arrived) == 0 && warp->ready) {
            unsigned lane = simt_neighbour(self->lane);
            if (__builtin_expect(warp->ready >> lane & 1, 1)) {
                __asm__ volatile("" : "+r"(lane));
            } else {
                lane = simt_first(warp->ready);
            }
            bit = 1ull << lane;
            warp->ready &= ~bit;
            if (warp->fresh & bit) {
                warp->fresh &= ~bit;
                simt_begin(self, warp, lane);
                continue;
            }
            void *nowhere;
            self->block->free[self->block->free_count++] = self;
            simt_switch(&nowhere, warp->fibers[lane]->stack);
        }
        simt_leave(self);
    }
}

SIMT_FAST void *simt_fresh_stack(SimtFiber *fiber) {
    void **top = (void **)fiber;
    *--top = 0;
    *--top = (void *)&simt_threads;
    *--top = 0;
    return top;
}

// Starts or goes on with a lane; the caller's stack pointer is kept in *save.
SIMT_FAST void simt_run(SimtFiber *self, void **save, SimtWarpState *warp, unsigned lane) {
    simt_u64 bit = 1ull << lane;
    warp->ready &= ~bit;
    if (warp->fresh & bit) {
        SimtBlock *block = self->block;
        warp->fresh &= ~bit;
        SimtFiber *fiber = block->free[--block->free_count];
        simt_begin(fiber, warp, lane);
        simt_switch(save, simt_fresh_stack(fiber));
        return;
    }
    SimtFiber *fiber = warp->fibers[lane];
    if (fiber != self || save != &self->stack) simt_switch(save, fiber->stack);
}

// The first that can run of a warp, else of another.
SIMT_FAST void simt_from(SimtFiber *self, void **save, SimtWarpState *warp) {
    if (warp->ready) simt_run(self, save, warp, simt_first(warp->ready));
    else simt_other(self, save, warp->number);
}

// The next thread: of this warp, else of another. Mostly it is the next lane: to look whether that
// one is ready is a branch that is foretold, so nothing has to wait for the masks to be read.
SIMT_FAST void simt_next(SimtFiber *self, void **save, SimtWarpState *warp) {
    simt_u64 ready = warp->ready;
    unsigned lane = simt_neighbour(self->lane);
    if (__builtin_expect(ready >> lane & 1, 1)) {
        // Not to be merged with the other way.
        __asm__ volatile("" : "+r"(lane));
    } else if (__builtin_expect(ready != 0, 1)) {
        lane = simt_first(ready);
    } else {
        simt_other(self, save, warp->number);
        return;
    }
    simt_run(self, save, warp, lane);
}
#include "counting.h"
#include "waiting.h"

extern "C" SIMT_DEVICE __attribute__((used)) const simt_u64 simt_block_bytes;
extern "C" SIMT_DEVICE __attribute__((used)) const simt_u64 simt_block_bytes = sizeof(SimtBlock);
