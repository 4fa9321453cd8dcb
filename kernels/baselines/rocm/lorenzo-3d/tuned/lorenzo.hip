// A block covers a tile of 32 x 8 columns and walks down PLANES planes. What a thread got in 2-D in
// the plane before stays in a register. The row above is another warp's: it is in the L1 cache.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

constexpr unsigned LANES = 32, WARPS = 8, PLANES = 16;

// Value minus left neighbour. All lanes of a warp are in the same row.
__device__ unsigned along_x(const unsigned *__restrict__ row, unsigned x, unsigned nx)
{
    unsigned value = x < nx ? row[x] : 0;
    unsigned left = __shfl_up(value, 1, 32);
    if (threadIdx.x == 0)
        left = x > 0 && x < nx ? row[x - 1] : 0;
    return value - left;
}

extern "C" __global__ void __launch_bounds__(LANES *WARPS)
differences(const unsigned *__restrict__ q, unsigned *__restrict__ codes, unsigned nz, unsigned ny,
            unsigned nx)
{
    unsigned across = (nx + LANES - 1) / LANES, down = (ny + WARPS - 1) / WARPS;
    unsigned x = blockIdx.x % across * LANES + threadIdx.x;
    unsigned y = blockIdx.x / across % down * WARPS + threadIdx.y;
    unsigned first = blockIdx.x / across / down * PLANES, last = min(first + PLANES, nz);
    if (y >= ny)
        return;
    unsigned before = 0;
    // The plane before the first one is only read for what it gives in 2-D.
    for (unsigned z = first > 0 ? first - 1 : 0; z < last; z++) {
        const unsigned *row = q + (z * ny + y) * nx;
        unsigned code = along_x(row, x, nx);
        if (y > 0)
            code -= along_x(row - nx, x, nx);
        if (x < nx && z >= first)
            codes[(z * ny + y) * nx + x] = code - before;
        before = code;
    }
}
