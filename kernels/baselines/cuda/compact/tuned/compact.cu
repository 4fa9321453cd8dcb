// compact in one pass: a thread block takes 256 slots, sums their sizes, learns from the tiles
// before it where they go (decoupled look-back), and moves them with eight lanes per slot.
constexpr unsigned FULL = 0xFFFFFFFFu, THREADS = 256, WARPS = THREADS / 32, LANES = 8;

typedef unsigned long long u64;

// Inclusive sum over the lanes of a warp.
__device__ unsigned warp_scan(unsigned v, unsigned lane)
{
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(FULL, v, d);
        v += lane >= d ? below : 0;
    }
    return v;
}

// A tile's state: nothing yet, its own total, or the total up to its end; below it the total.
constexpr u64 OWN = 1ull << 32, UP_TO = 2ull << 32;

// What all tiles before add up to, by the lanes of one warp, nearest tile first.
__device__ unsigned look_back(volatile u64 *states, unsigned tile, unsigned own, unsigned lane)
{
    if (lane == 0)
        states[tile] = own | (tile == 0 ? UP_TO : OWN);
    unsigned before = 0;
    for (long long at = (long long)tile - 1 - lane;; at -= 32) {
        u64 seen;
        do {
            seen = at >= 0 ? states[at] : UP_TO;
        } while (__any_sync(FULL, seen < OWN));
        unsigned ends = __ballot_sync(FULL, seen >= UP_TO);
        // What lies beyond the nearest total up to an end is already in it.
        unsigned last = ends ? __ffs(ends) - 1 : 31;
        unsigned sum = warp_scan(lane <= last ? (unsigned)seen : 0, lane);
        before += __shfl_sync(FULL, sum, 31);
        if (ends)
            break;
    }
    if (lane == 0 && tile > 0)
        states[tile] = (before + own) | UP_TO;
    return before;
}

extern "C" __global__ void __launch_bounds__(THREADS)
compact(const unsigned *__restrict__ slots, const unsigned *__restrict__ sizes, unsigned blocks,
        unsigned cap, u64 *states, unsigned *__restrict__ offsets, unsigned *__restrict__ packed)
{
    __shared__ unsigned totals[WARPS], ends[THREADS], begin;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned block = blockIdx.x * THREADS + threadIdx.x;
    unsigned size = block < blocks ? sizes[block] : 0;
    unsigned end = warp_scan(size, lane);
    if (lane == 31)
        totals[warp] = end;
    __syncthreads();

    unsigned all = 0;
#pragma unroll
    for (unsigned w = 0; w < WARPS; w++) {
        end += w < warp ? totals[w] : 0;
        all += totals[w];
    }
    ends[threadIdx.x] = end;
    if (warp == 0) {
        unsigned before = look_back(states, blockIdx.x, all, lane);
        if (lane == 0)
            begin = before;
    }
    __syncthreads();

    if (block < blocks)
        offsets[block + 1] = begin + end;
    if (block == 0)
        offsets[0] = 0;
    // Neighbouring groups of lanes store next to each other.
    for (unsigned slot = threadIdx.x / LANES; slot < THREADS; slot += THREADS / LANES) {
        unsigned start = slot > 0 ? ends[slot - 1] : 0, words = ends[slot] - start;
        const unsigned *from = slots + (u64)(blockIdx.x * THREADS + slot) * cap;
        unsigned *to = packed + begin + start;
        for (unsigned i = threadIdx.x % LANES; i < words; i += LANES)
            to[i] = from[i];
    }
}
