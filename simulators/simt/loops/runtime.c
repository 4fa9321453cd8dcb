// The part of a compiled kernel that does not depend on the kernel: claiming blocks, and what
// happens where threads of a block no longer agree. runtime.ll is made of it (see runtime.py).
//
// A thread is in a state: 0 it exited, n it waits at suspension point n, n | READY it may go on
// there. While all threads of a block agree, the generated simt_block goes from point to point;
// where they do not, `slow` goes on warp by warp, by groups of lanes that wait at one point.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum { READY = 0x80000000u, MIXED = 0xffffffffu };
enum Kind { ENTRY, BLOCK, COUNT, WARP, SHUFFLE, BALLOT, MATCH, REDUCE, ACTIVE, YIELD };
enum Status {
    CLAIMED = -1, STOPPED = 1, TRAP = 2, DIVERGENT = 3, DEADLOCK = 4, MASK = 5,
    OUT_OF_BOUNDS = 6, MISALIGNED = 7
};

struct Launch {
    u64 next, blocks;
    u32 grid[3], block[3];
    u64 dynamic_shared;
    void **params, **globals;
    i64 status;
    u64 detail[6];
    u64 stop;
    struct Hooks *hooks;
};
struct Range { u64 start, end; };
struct Hooks { u64 count; struct Range *allocations; void *written; };
struct Worker {
    void *shared;
    u64 shared_bytes;
    u8 *spill;
    u64 spill_bytes;
    void *stacks;
    u64 stack_bytes, index;
};
// Generated code knows the offsets: frame.py.
struct Context {
    struct Launch *launch;
    void *shared;
    u8 *spill;
    void **params, **globals;
    u32 *state;
    u32 block[4], grid[4];
    u64 number;
    struct Worker *worker;
};
// Where an operand is constant, its flag is clear and its value is here.
struct Site { u32 kind, line, op, flags, arg, width; u64 mask; };
enum Flags { MASK_STORED = 1, ARG_STORED = 2, WIDTH_STORED = 4, VALUE_NARROW = 8, RESULT_NARROW = 16 };
// Offsets into a worker's spill memory.
struct Layout {
    u32 threads, warp, warps, descending, state, value, narrow_value, mask, arg, width, result;
    u32 narrow_result;
};

extern const struct Layout simt_layout;
extern const struct Site simt_sites[];
void simt_block(struct Context *);
void simt_range(struct Context *, u32 site, u32 low, u32 high);
u32 simt_warp(struct Context *, u32 site, u32 warp);

#define L simt_layout

void simt_fail(struct Context *c, i64 code, u32 line, u32 thread, u64 a, u64 b, u64 more) {
    i64 none = 0;
    struct Launch *l = c->launch;
    if (!__atomic_compare_exchange_n(&l->status, &none, CLAIMED, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    l->detail[0] = line, l->detail[1] = c->number, l->detail[2] = thread;
    l->detail[3] = a, l->detail[4] = b, l->detail[5] = more;
    __atomic_store_n(&l->status, code, __ATOMIC_RELEASE);
}

// Whether this launch is over; `site`: where a thread waits.
u32 simt_over(struct Context *c, u32 site, u32 thread) {
    if (__builtin_expect(__atomic_load_n(&c->launch->stop, __ATOMIC_RELAXED) != 0, 0))
        simt_fail(c, STOPPED, simt_sites[site].line, thread, 0, 0, 0);
    return __builtin_expect(__atomic_load_n(&c->launch->status, __ATOMIC_RELAXED) != 0, 0);
}

u32 simt_agree(struct Context *c) {
    u32 first = c->state[0], other = 0;
    for (u32 t = 1; t < L.threads; t++) other |= c->state[t] ^ first;
    return other ? MIXED : first;
}

static u64 value_of(struct Context *c, const struct Site *s, u32 t) {
    if (s->flags & VALUE_NARROW) return ((u32 *)(c->spill + L.narrow_value))[t];
    return ((u64 *)(c->spill + L.value))[t];
}
static void give(struct Context *c, const struct Site *s, u32 t, u64 value) {
    if (s->flags & RESULT_NARROW) ((u32 *)(c->spill + L.narrow_result))[t] = (u32)value;
    else ((u64 *)(c->spill + L.result))[t] = value;
}
static u64 mask_of(struct Context *c, const struct Site *s, u32 t) {
    return s->flags & MASK_STORED ? ((u64 *)(c->spill + L.mask))[t] : s->mask;
}

static u32 source_lane(struct Context *c, const struct Site *s, u32 t, u32 lane) {
    u32 arg = s->flags & ARG_STORED ? ((u32 *)(c->spill + L.arg))[t] : s->arg;
    u32 width = s->flags & WIDTH_STORED ? ((u32 *)(c->spill + L.width))[t] : s->width;
    u32 first = lane & ~(width - 1), last = lane | (width - 1), from = lane;
    switch (s->op) {
    case 0: return first | (arg & (width - 1));
    case 1: return arg <= lane - first ? lane - arg : lane;
    case 2: return arg <= last - lane ? lane + arg : lane;
    default: from = lane ^ arg; return from <= last ? from : lane;
    }
}

static u64 combined(u32 op, u64 a, u64 b) {
    switch (op) {
    case 0: return a + b;
    case 1: return a < b ? a : b;
    case 2: return a > b ? a : b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a ^ b;
    case 6: return (i64)a < (i64)b ? a : b;
    default: return (i64)a > (i64)b ? a : b;
    }
}

// The operation for the lanes of `group`, all there with one mask.
static void apply(struct Context *c, const struct Site *s, u32 base, u64 group) {
    u64 all = 0;
    u32 any = 0;
    if (s->kind == BALLOT || s->kind == REDUCE)
        for (u64 m = group; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctzll(m);
            u64 value = value_of(c, s, base + lane);
            if (s->kind == BALLOT) all |= (u64)(value != 0) << lane;
            else all = any++ ? combined(s->op, all, value) : value;
        }
    for (u64 m = group; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctzll(m), t = base + lane;
        if (s->kind == SHUFFLE) {
            u32 from = source_lane(c, s, t, lane);
            if (from >= L.warp || !(group >> from & 1)) from = lane;
            give(c, s, t, value_of(c, s, base + from));
        } else if (s->kind == MATCH) {
            u64 same = 0, mine = value_of(c, s, t);
            for (u64 o = group; o; o &= o - 1) {
                u32 other = (u32)__builtin_ctzll(o);
                same |= (u64)(value_of(c, s, base + other) == mine) << other;
            }
            give(c, s, t, same);
        } else if (s->kind != WARP) {
            give(c, s, t, all);
        }
    }
}

// The warp operation for those of `group` (lanes at this site) whose masks are complete: the mask
// of these. Lanes that exited are not waited for.
static u64 collect(struct Context *c, u32 site, u32 base, u64 group, u64 alive) {
    const struct Site *s = &simt_sites[site];
    u64 done = 0;
    for (u64 left = group; left;) {
        u32 lane = (u32)__builtin_ctzll(left);
        u64 mask = mask_of(c, s, base + lane), need = mask & alive;
        if (!(mask >> lane & 1)) {
            simt_fail(c, MASK, s->line, base + lane, mask, 0, 0);
            return 0;
        }
        left &= left - 1;
        if (need & ~group) continue;
        for (u64 m = need; m; m &= m - 1)
            if (mask_of(c, s, base + (u32)__builtin_ctzll(m)) != mask) {
                simt_fail(c, MASK, s->line, base + lane, mask, 0, 0);
                return 0;
            }
        apply(c, s, base, need);
        done |= need;
        left &= ~need;
    }
    return done;
}

static u64 valid_lanes(u32 warp) {
    u32 there = L.threads - warp * L.warp;
    if (there > L.warp) there = L.warp;
    return there == 64 ? ~0ull : (1ull << there) - 1;
}

static void give_active(struct Context *c, u32 site, u32 base, u64 group) {
    for (u64 m = group; m; m &= m - 1)
        give(c, &simt_sites[site], base + (u32)__builtin_ctzll(m), group);
}

static void give_count(struct Context *c) {
    u32 count = 0;
    for (u32 t = 0; t < L.threads; t++)
        if (c->state[t] && value_of(c, &simt_sites[c->state[t]], t)) count++;
    for (u32 t = 0; t < L.threads; t++)
        if (c->state[t]) give(c, &simt_sites[c->state[t]], t, count);
}

// All threads are at `site`, nobody exited; 0: it does not work out, or the launch is over.
u32 simt_all(struct Context *c, u32 site) {
    u32 kind = simt_sites[site].kind;
    if (kind == COUNT) {
        u32 count = 0;
        for (u32 t = 0; t < L.threads; t++) count += value_of(c, &simt_sites[site], t) != 0;
        for (u32 t = 0; t < L.threads; t++) give(c, &simt_sites[site], t, count);
    } else if (kind >= WARP && kind <= ACTIVE)
        for (u32 w = 0; w < L.warps; w++) {
            u64 valid = valid_lanes(w);
            if (kind == ACTIVE) give_active(c, site, w * L.warp, valid);
            else if (collect(c, site, w * L.warp, valid, valid) != valid) return 0;
        }
    return 1;
}

// Run lanes on from a point, in runs of neighbours.
static void go(struct Context *c, u32 site, u32 base, u64 group) {
    while (group) {
        u32 low, high;
        if (L.descending) {
            high = 64 - (u32)__builtin_clzll(group);
            u64 gaps = ~group & (high == 64 ? ~0ull : (1ull << high) - 1);
            low = gaps ? 64 - (u32)__builtin_clzll(gaps) : 0;
        } else {
            low = (u32)__builtin_ctzll(group);
            u64 gaps = ~group >> low << low;
            high = gaps ? (u32)__builtin_ctzll(gaps) : 64;
        }
        u64 run = (high - low == 64 ? ~0ull : ((1ull << (high - low)) - 1)) << low;
        simt_range(c, site, base + low, base + high);
        group &= ~run;
    }
}

static u64 lanes_at(struct Context *c, u32 base, u64 among, u32 state) {
    u64 found = 0;
    for (u64 m = among; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctzll(m);
        found |= (u64)(c->state[base + lane] == state) << lane;
    }
    return found;
}

// One group of lanes of a warp goes on: whether one could. Rank 0: what is ready and operations
// that are complete; 1: who asks who is there, once all others wait; 2: who only looks again.
static u32 advance(struct Context *c, u32 warp, u32 rank, u64 spun, u64 *spinning) {
    u32 base = warp * L.warp;
    u64 alive = valid_lanes(warp), left;
    alive &= ~lanes_at(c, base, alive, 0);
    for (left = alive & ~spun; left;) {
        u32 state = c->state[base + (u32)__builtin_ctzll(left)], site = state & ~READY;
        u64 group = lanes_at(c, base, left, state), ready = 0;
        u32 kind = simt_sites[site].kind;
        left &= ~group;
        if (state & READY) ready = rank == 0 ? group : 0;
        else if (kind == ACTIVE) {
            if (rank == 1) give_active(c, site, base, ready = group);
        } else if (kind == YIELD) {
            if (rank == 2) *spinning |= ready = group;
        } else if (kind >= WARP && rank == 0) {
            if (group == alive && group == valid_lanes(warp) && simt_warp(c, site, warp))
                ready = group;
            else
                ready = collect(c, site, base, group, alive);
        }
        if (ready) {
            go(c, site, base, ready);
            return 1;
        }
    }
    return 0;
}

static u32 run_warp(struct Context *c, u32 warp) {
    u32 progress = 0;
    u64 spun = 0;
    for (;;) {
        if (__atomic_load_n(&c->launch->status, __ATOMIC_RELAXED)) return progress;
        if (!advance(c, warp, 0, spun, &spun) && !advance(c, warp, 1, spun, &spun) &&
            !advance(c, warp, 2, spun, &spun))
            return progress;
        progress = 1;
    }
}

// Why nobody can go on.
static void diagnose(struct Context *c) {
    u32 first = MIXED;
    for (u32 t = 0; t < L.threads; t++) {
        if (!c->state[t]) continue;
        const struct Site *s = &simt_sites[c->state[t]];
        if (s->kind <= COUNT) {
            if (first == MIXED) first = t;
            continue;
        }
        u32 base = t / L.warp * L.warp;
        for (u64 m = mask_of(c, s, t) & valid_lanes(t / L.warp); m; m &= m - 1) {
            u32 other = base + (u32)__builtin_ctzll(m);
            if (c->state[other] && c->state[other] != c->state[t]) {
                simt_fail(c, DEADLOCK, s->line, t, simt_sites[c->state[other]].line, other,
                          mask_of(c, s, t));
                return;
            }
        }
    }
    for (u32 t = 0; first != MIXED && t < L.threads; t++)
        if (c->state[t] && simt_sites[c->state[t]].line != simt_sites[c->state[first]].line) {
            simt_fail(c, DIVERGENT, simt_sites[c->state[first]].line, first,
                      simt_sites[c->state[t]].line, t, 0);
            return;
        }
    simt_fail(c, DEADLOCK, first == MIXED ? 0 : simt_sites[c->state[first]].line, first, 0, 0, 0);
}

// Threads that wait at one barrier of the block go on if they are all that is left: MIXED. The
// point itself if all threads of the block are there; 0: they are not, or not yet.
static u32 release(struct Context *c) {
    u32 first = 0, same = 1, exited = 0;
    for (u32 t = 0; t < L.threads; t++) {
        u32 state = c->state[t];
        if (!state) {
            exited = 1;
            continue;
        }
        if (!first) first = state;
        if (simt_sites[state].kind != simt_sites[first].kind || simt_sites[state].kind > COUNT ||
            simt_sites[state].line != simt_sites[first].line)
            return 0;
        same &= state == first;
    }
    if (simt_sites[first].kind == COUNT) give_count(c);
    if (same && !exited) return first;
    for (u32 t = 0; t < L.threads; t++)
        if (c->state[t]) c->state[t] |= READY;
    return MIXED;
}

// Threads do not agree. The point at which they do again, for all of them to go on; 0: none.
u32 simt_slow(struct Context *c) {
    for (;;) {
        u32 progress = 0, alive = 0, waits = 0;
        for (u32 i = 0; i < L.warps; i++)
            progress |= run_warp(c, L.descending ? L.warps - 1 - i : i);
        for (u32 t = 0; t < L.threads; t++) {
            u32 state = c->state[t];
            // Who spins is who the others wait for.
            if (state && (!alive || simt_sites[state & ~READY].kind == YIELD)) waits = t;
            alive |= state;
        }
        if (!alive || simt_over(c, c->state[waits] & ~READY, waits)) return 0;
        u32 point = release(c);
        if (point && point != MIXED) return point;
        if (!point && !progress) {
            diagnose(c);
            return 0;
        }
    }
}

void simt_same(struct Context *c, u32 site) {
    for (u32 t = 0; t < L.threads; t++) c->state[t] = site;
}

// One access: whether it is inside an allocation, or inside shared or spill memory, and aligned.
u32 simt_check(struct Context *c, u64 at, u64 bytes, u32 align, u32 line, u32 thread_write) {
    struct Hooks *h = c->launch->hooks;
    u64 shared = (u64)c->shared, spill = (u64)c->spill;
    u64 low = 0, high = h->count;
    if (at & (align - 1)) {
        simt_fail(c, MISALIGNED, line, thread_write >> 1, at, bytes, thread_write & 1);
        return 0;
    }
    if (at - shared < c->worker->shared_bytes && at - shared + bytes <= c->worker->shared_bytes)
        return 1;
    if (at - spill < c->worker->spill_bytes) return 1;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (h->allocations[middle].end > at) high = middle;
        else low = middle + 1;
    }
    if (low < h->count && h->allocations[low].start <= at && at + bytes <= h->allocations[low].end)
        return 1;
    simt_fail(c, OUT_OF_BOUNDS, line, thread_write >> 1, at, bytes, thread_write & 1);
    return 0;
}

void simt_entry(struct Launch *launch, struct Worker *worker) {
    struct Context c;
    c.launch = launch, c.worker = worker, c.shared = worker->shared, c.spill = worker->spill;
    c.params = launch->params, c.globals = launch->globals;
    c.state = (u32 *)(c.spill + L.state);
    for (u32 i = 0; i < 3; i++) c.grid[i] = launch->grid[i];
    for (;;) {
        if (__atomic_load_n(&launch->status, __ATOMIC_RELAXED) ||
            __atomic_load_n(&launch->stop, __ATOMIC_RELAXED))
            return;
        u64 n = __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED);
        if (n >= launch->blocks) return;
        c.number = n;
        c.block[0] = (u32)(n % c.grid[0]);
        c.block[1] = (u32)(n / c.grid[0] % c.grid[1]);
        c.block[2] = (u32)(n / c.grid[0] / c.grid[1]);
        simt_block(&c);
    }
}
