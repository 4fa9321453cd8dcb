// bitunpack in one pass: a thread block learns from the tiles before it where the words of its 4096
// values are (decoupled look-back), and brings them into shared memory with contiguous loads.
//
// A thread gets four neighbouring values, eight threads a block of 32. Values are the transpose of
// a 32 x 32 bit matrix of four planes in each of eight lanes: five exchanges, two of them in
// registers, three by shuffles.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, STEPS = 4, EACH = 4;
constexpr unsigned BLOCK = 32, TILE = THREADS * STEPS * EACH, BLOCKS = TILE / BLOCK;

// The votes of the 32 lanes that work together; a wavefront may hold two times as many.
__device__ unsigned ballot(bool vote)
{
    unsigned long long votes = __ballot(vote);
    return (unsigned)(warpSize == 64 && threadIdx.x & 32 ? votes >> 32 : votes);
}

typedef unsigned long long u64;

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

// Exchange the bit of weight `s` in a bit's place with the choice between words a and b.
__device__ void exchange(unsigned &a, unsigned &b, unsigned s, unsigned mask)
{
    unsigned t = ((a >> s) ^ b) & mask;
    b ^= t;
    a ^= t << s;
}

// Word j of lane l of eight: in, bit 4l + j of every value; out, the bits of value 4l + j. Its own
// inverse.
__device__ void transpose(unsigned v[EACH], unsigned lane)
{
    exchange(v[0], v[1], 1, 0x55555555u);
    exchange(v[2], v[3], 1, 0x55555555u);
    exchange(v[0], v[2], 2, 0x33333333u);
    exchange(v[1], v[3], 2, 0x33333333u);
    const unsigned masks[3] = {0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
#pragma unroll
    for (unsigned k = 0; k < 3; k++) {
        bool upper = lane >> k & 1;
        unsigned keep = upper ? ~masks[k] : masks[k], turn = upper ? 32 - (4u << k) : 4u << k;
#pragma unroll
        for (unsigned j = 0; j < EACH; j++) {
            unsigned other = __shfl_xor(v[j], 1u << k, 32);
            v[j] = (v[j] & keep) | ((other << turn | other >> (32 - turn)) & ~keep);
        }
    }
}

// Places of 128 blocks from their sizes, by one warp; returns the total.
__device__ unsigned place(unsigned *places, const unsigned sizes[4], unsigned lane)
{
    unsigned sum = sizes[0] + sizes[1] + sizes[2] + sizes[3];
    unsigned up_to = warp_scan(sum, lane), at = up_to - sum;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        places[lane * 4 + k] = at;
        at += sizes[k];
    }
    return __shfl(up_to, 31, 32);
}

extern "C" __global__ void __launch_bounds__(THREADS)
unpack(const unsigned char *__restrict__ rates, const unsigned *__restrict__ words, unsigned n,
       u64 *states, unsigned *__restrict__ values)
{
    __shared__ unsigned stage[TILE], places[BLOCKS], count, begin;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, eighth = lane % 8;
    unsigned first_block = blockIdx.x * BLOCKS, blocks = (n + BLOCK - 1) / BLOCK;
    if (warp == 0) {
        unsigned sizes[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned block = first_block + lane * 4 + k;
            sizes[k] = block < blocks ? rates[block] : 0;
        }
        unsigned total = place(places, sizes, lane);
        unsigned before = look_back(states, blockIdx.x, total, lane);
        if (lane == 0) {
            count = total;
            begin = before;
        }
    }
    __syncthreads();

    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        stage[i] = words[begin + i];
    __syncthreads();

#pragma unroll
    for (unsigned s = 0; s < STEPS; s++) {
        unsigned block = warp * (BLOCKS / WARPS) + s * 4 + lane / 8;
        unsigned end = block + 1 < BLOCKS ? places[block + 1] : count;
        unsigned rate = end - places[block], planes[EACH];
#pragma unroll
        for (unsigned j = 0; j < EACH; j++) {
            unsigned k = eighth * EACH + j;
            planes[j] = k < rate ? stage[places[block] + k] : 0;
        }
        transpose(planes, eighth);
        unsigned at = (first_block + block) * BLOCK + eighth * EACH;
        if (at < n && n - at >= EACH) {
            uint4 v = make_uint4(planes[0], planes[1], planes[2], planes[3]);
            *reinterpret_cast<uint4 *>(values + at) = v;
        } else {
#pragma unroll
            for (unsigned j = 0; j < EACH; j++)
                if (at + j < n)
                    values[at + j] = planes[j];
        }
    }
}
