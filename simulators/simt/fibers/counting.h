// Accesses and branches of sampled blocks, written down as they happen, for who reads them after the
// launch: toolchains/child/shims/simt/counting.py. Other blocks run code that doesn't know of it.
#pragma once

#ifdef SIMT_COUNTED
struct SimtRecord {
    // Of memory; SIMT_IN_SHARED and an offset, in shared memory.
    simt_u64 address;
    unsigned site;
    unsigned short thread, value;
};
struct SimtTrace {
    SimtRecord *records;
    simt_u64 count, capacity;
    // Blocks that had no room, or not enough.
    simt_u64 lost;
};
struct SimtRange { simt_u64 start, end; };
struct SimtHooks {
    simt_u64 count;
    SimtRange *allocations;
    void *written;
    // Of 2^32: what part of the blocks is sampled.
    simt_u64 threshold;
    // One per worker.
    SimtTrace *traces;
};
#define SIMT_IN_SHARED (1ull << 63)
// Sites that are no accesses: a block begins, a barrier, a __syncwarp.
enum { SIMT_BEGINS = 0x7ffffff0, SIMT_BARRIER, SIMT_WARP_BARRIER };

SIMT_FAST void simt_note(SimtTrace *trace, simt_u64 address, unsigned site, unsigned thread,
                         simt_u64 value) {
    if (__builtin_expect(trace->count >= trace->capacity, 0)) {
        trace->lost |= 1;
        return;
    }
    // Mixed, so that values that differ mostly differ in what is kept of them.
    unsigned short mixed = (unsigned short)(value * 0x9e3779b97f4a7c15ull >> 48);
    trace->records[trace->count++] = SimtRecord{address, site, (unsigned short)thread, mixed};
}

// Blocks spread evenly over the grid, whatever its shape: multiples of the golden ratio.
SIMT_SLOW void simt_choose(SimtBlock *block, simt_u64 number) {
    SimtHooks *hooks = (SimtHooks *)block->launch->hooks;
    block->trace = 0;
    if (!hooks || (unsigned)(number * 0x9e3779b9u) >= hooks->threshold) return;
    SimtTrace *trace = &hooks->traces[block->worker->index];
    // A block that begins with less room is not worth it.
    if (trace->count + trace->capacity / 8 >= trace->capacity) {
        trace->lost |= 2;
        return;
    }
    block->trace = trace;
    simt_note(trace, number, SIMT_BEGINS, 0, 0);
}

// What the instrumented IR calls (instrumenting.py): for a branch, value is its condition.
extern "C" SIMT_DEVICE __attribute__((noinline, used, nodebug)) void
simt_counted_branch(unsigned site, simt_u64 value) {
    SimtFiber *self = simt_self();
    simt_note(self->block->trace, 0, site, self->thread, value);
}

extern "C" SIMT_DEVICE __attribute__((noinline, used, nodebug)) void
simt_counted_access(const void *at, unsigned site, simt_u64 value) {
    SimtFiber *self = simt_self();
    SimtBlock *block = self->block;
    simt_u64 address = (simt_u64)at, offset = address - (simt_u64)block->shared;
    if (offset < block->worker->shared_bytes) {
        simt_note(block->trace, offset | SIMT_IN_SHARED, site, self->thread, value);
        return;
    }
    // What is in no array is on a thread's stack.
    SimtHooks *hooks = (SimtHooks *)block->launch->hooks;
    simt_u64 low = 0, high = hooks->count;
    while (low < high) {
        simt_u64 middle = (low + high) / 2;
        if (hooks->allocations[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    if (low < hooks->count && hooks->allocations[low].start <= address) {
        simt_note(block->trace, address, site, self->thread, value);
    }
}
#define SIMT_EVENT(block, site, thread, mask)                                                      \
    do {                                                                                           \
        if (__builtin_expect((block)->trace != 0, 0)) {                                            \
            simt_note((block)->trace, mask, site, thread, 0);                                      \
        }                                                                                          \
    } while (0)
#else
#define SIMT_EVENT(block, site, thread, mask)
#endif
