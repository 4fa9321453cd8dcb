// A running sum in one pass: every value is read once and written once. A thread block sums a tile
// of 4096 values and learns what all tiles before it add up to by decoupled look-back (Merrill and
// Garland, NVIDIA technical report NVR-2016-002).
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, STEPS = 4;
constexpr unsigned TILE = THREADS * 4 * STEPS;

// The votes of the 32 lanes that work together; a wavefront may hold two times as many.
__device__ unsigned ballot(bool vote)
{
    unsigned long long votes = __ballot(vote);
    return (unsigned)(warpSize == 64 && threadIdx.x & 32 ? votes >> 32 : votes);
}

typedef unsigned long long u64;
// A tile's state: nothing yet, its own total, or the total up to its end; below it the total.
constexpr u64 OWN = 1ull << 32, UP_TO = 2ull << 32;

// Inclusive sum over the lanes of a warp.
__device__ unsigned warp_scan(unsigned v, unsigned lane)
{
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up(v, d, 32);
        v += lane >= d ? below : 0;
    }
    return v;
}

// By the lanes of one warp, nearest tile first.
__device__ unsigned look_back(volatile u64 *states, unsigned tile, unsigned own, unsigned lane)
{
    if (lane == 0)
        states[tile] = own | (tile == 0 ? UP_TO : OWN);
    unsigned before = 0;
    for (long long at = (long long)tile - 1 - lane;; at -= 32) {
        u64 seen;
        do {
            seen = at >= 0 ? states[at] : UP_TO;
        } while (ballot(seen < OWN) != 0);
        unsigned ends = ballot(seen >= UP_TO);
        // What lies beyond the nearest total up to an end is already in it.
        unsigned last = ends ? __ffs(ends) - 1 : 31;
        unsigned sum = warp_scan(lane <= last ? (unsigned)seen : 0, lane);
        before += __shfl(sum, 31, 32);
        if (ends)
            break;
    }
    if (lane == 0 && tile > 0)
        states[tile] = (before + own) | UP_TO;
    return before;
}

__device__ uint4 load(const unsigned *__restrict__ from, unsigned at, unsigned n)
{
    if (at < n && n - at >= 4)
        return *reinterpret_cast<const uint4 *>(from + at);
    uint4 v = make_uint4(0, 0, 0, 0);
    v.x = at < n ? from[at] : 0;
    v.y = at + 1 < n ? from[at + 1] : 0;
    v.z = at + 2 < n ? from[at + 2] : 0;
    return v;
}

__device__ void store(unsigned *__restrict__ to, uint4 v, unsigned at, unsigned n)
{
    if (at < n && n - at >= 4) {
        *reinterpret_cast<uint4 *>(to + at) = v;
        return;
    }
    if (at < n)
        to[at] = v.x;
    if (at + 1 < n)
        to[at + 1] = v.y;
    if (at + 2 < n)
        to[at + 2] = v.z;
}

extern "C" __global__ void __launch_bounds__(THREADS)
running_sum(const unsigned *__restrict__ codes, unsigned *__restrict__ q, u64 *states, unsigned n)
{
    __shared__ unsigned totals[WARPS], before_tile;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned start = blockIdx.x * TILE + warp * (TILE / WARPS) + lane * 4;
    uint4 v[STEPS];
#pragma unroll
    for (unsigned s = 0; s < STEPS; s++)
        v[s] = load(codes, start + s * 128, n);
    unsigned carry = 0;
#pragma unroll
    for (unsigned s = 0; s < STEPS; s++) {
        v[s].y += v[s].x;
        v[s].z += v[s].y;
        v[s].w += v[s].z;
        unsigned up_to = warp_scan(v[s].w, lane), add = carry + up_to - v[s].w;
        v[s].x += add;
        v[s].y += add;
        v[s].z += add;
        v[s].w += add;
        carry += __shfl(up_to, 31, 32);
    }
    if (lane == 0)
        totals[warp] = carry;
    __syncthreads();

    unsigned add = 0, own = 0;
#pragma unroll
    for (unsigned w = 0; w < WARPS; w++) {
        add += w < warp ? totals[w] : 0;
        own += totals[w];
    }
    if (warp == 0) {
        unsigned before = look_back(states, blockIdx.x, own, lane);
        if (lane == 0)
            before_tile = before;
    }
    __syncthreads();

    add += before_tile;
#pragma unroll
    for (unsigned s = 0; s < STEPS; s++) {
        uint4 sum = make_uint4(v[s].x + add, v[s].y + add, v[s].z + add, v[s].w + add);
        store(q, sum, start + s * 128, n);
    }
}
