// A warp covers 32 columns and walks down ROWS rows. What it got along x in the row above stays in
// a register, and the left neighbour comes by a shuffle: every value is read once, plus the edges.
constexpr unsigned FULL = 0xFFFFFFFFu, LANES = 32, WARPS = 8, ROWS = 16;

extern "C" __global__ void __launch_bounds__(LANES *WARPS)
differences(const unsigned *__restrict__ q, unsigned *__restrict__ codes, unsigned ny, unsigned nx)
{
    unsigned tiles = (nx + LANES - 1) / LANES;
    unsigned work = blockIdx.x * WARPS + threadIdx.y;
    unsigned x = work % tiles * LANES + threadIdx.x, first = work / tiles * ROWS;
    if (first >= ny)
        return;
    unsigned last = min(first + ROWS, ny);
    bool inside = x < nx, edge = threadIdx.x == 0 && x > 0;
    unsigned above = 0;
    // The row above the first one is only read for what it gives along x.
#pragma unroll 4
    for (unsigned y = first > 0 ? first - 1 : 0; y < last; y++) {
        unsigned i = y * nx + x;
        unsigned value = inside ? q[i] : 0;
        unsigned left = __shfl_up_sync(FULL, value, 1);
        if (threadIdx.x == 0)
            left = edge ? q[i - 1] : 0;
        unsigned along = value - left;
        if (inside && y >= first)
            codes[i] = along - above;
        above = along;
    }
}
