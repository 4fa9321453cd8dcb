// Running sums along the last axis by warps, along the others by columns. Unsigned: sums wrap.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, EACH = 4, DEPTH = 16;

typedef unsigned long long u64;
// A segment's state: nothing yet, its own total, or the total up to its end; below it the total.
constexpr u64 OWN = 1ull << 32, UP_TO = 2ull << 32;

__device__ unsigned warp_scan(unsigned v, unsigned lane)
{
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up(v, d, 32);
        v += lane >= d ? below : 0;
    }
    return v;
}

// Along the last axis: a warp walks along a row, 128 values at a time, all loaded before they are
// summed.
extern "C" __global__ void __launch_bounds__(THREADS)
sum_rows(const unsigned *__restrict__ codes, unsigned *__restrict__ q, unsigned rows, unsigned nx)
{
    unsigned lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    const unsigned *from = codes + row * nx;
    unsigned *to = q + row * nx, carry = 0;
    for (unsigned start = lane; start < nx + lane; start += 32 * EACH) {
        unsigned v[EACH];
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            v[j] = start + 32 * j < nx ? from[start + 32 * j] : 0;
#pragma unroll
        for (unsigned j = 0; j < EACH; j++) {
            unsigned sum = carry + warp_scan(v[j], lane);
            if (start + 32 * j < nx)
                to[start + 32 * j] = sum;
            carry = __shfl(sum, 31, 32);
        }
    }
}

// Along another axis of an array of outer x length x inner values, in place. A thread sums a
// segment of DEPTH values of one column and looks back along the column for what the segments
// before it add up to: their blocks have lower indices. Neighbours in a warp read neighbours in
// memory.
extern "C" __global__ void __launch_bounds__(THREADS)
sum_columns(unsigned *__restrict__ q, volatile u64 *states, unsigned length, unsigned inner,
            unsigned outer)
{
    unsigned columns = outer * inner, tiles = (columns + THREADS - 1) / THREADS;
    unsigned column = blockIdx.x % tiles * THREADS + threadIdx.x, segment = blockIdx.x / tiles;
    if (column >= columns)
        return;
    unsigned first = segment * DEPTH;
    unsigned *at = q + (column / inner * length + first) * inner + column % inner;
    unsigned v[DEPTH], own = 0;
#pragma unroll
    for (unsigned i = 0; i < DEPTH; i++)
        v[i] = first + i < length ? at[i * inner] : 0;
#pragma unroll
    for (unsigned i = 0; i < DEPTH; i++)
        own += v[i];
    volatile u64 *state = states + (u64)segment * columns + column;
    *state = own | (segment == 0 ? UP_TO : OWN);
    unsigned sum = 0;
    for (unsigned s = segment; s > 0; s--) {
        volatile u64 *earlier = states + (u64)(s - 1) * columns + column;
        u64 seen;
        do {
            seen = *earlier;
        } while (seen < OWN);
        sum += (unsigned)seen;
        if (seen >= UP_TO)
            break;
    }
    if (segment > 0)
        *state = (sum + own) | UP_TO;
#pragma unroll
    for (unsigned i = 0; i < DEPTH; i++) {
        sum += v[i];
        if (first + i < length)
            at[i * inner] = sum;
    }
}
