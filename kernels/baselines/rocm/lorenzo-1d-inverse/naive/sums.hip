#include <hip/hip_runtime.h>

constexpr unsigned TILE = 256;

// Running sums within each tile of 256 values, and the total of each tile. Unsigned: sums wrap.
extern "C" __global__ void sum_tiles(const unsigned *codes, unsigned *q, unsigned *totals,
                                     unsigned n)
{
    __shared__ unsigned sums[2][TILE];
    unsigned i = blockIdx.x * TILE + threadIdx.x, now = 0;
    sums[0][threadIdx.x] = i < n ? codes[i] : 0;
    __syncthreads();
    for (unsigned reach = 1; reach < TILE; reach *= 2) {
        unsigned before = threadIdx.x >= reach ? sums[now][threadIdx.x - reach] : 0;
        sums[1 - now][threadIdx.x] = sums[now][threadIdx.x] + before;
        now = 1 - now;
        __syncthreads();
    }
    if (i < n)
        q[i] = sums[now][threadIdx.x];
    if (threadIdx.x == TILE - 1)
        totals[blockIdx.x] = sums[now][TILE - 1];
}

// What all tiles before add up to. `ends`: running sums of the totals.
extern "C" __global__ void add_before(unsigned *q, const unsigned *ends, unsigned n)
{
    unsigned i = blockIdx.x * TILE + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        q[i] += ends[blockIdx.x - 1];
}
