#include <hip/hip_runtime.h>

// What the 1-D predictor gets wrong at x, in the row that begins at `row`.
__device__ unsigned along_x(const unsigned *row, unsigned x)
{
    return x > 0 ? row[x] - row[x - 1] : row[x];
}

// The same in 2-D, in the plane that begins at `plane`.
__device__ unsigned along_xy(const unsigned *plane, unsigned y, unsigned x, unsigned nx)
{
    const unsigned *row = plane + y * nx;
    return y > 0 ? along_x(row, x) - along_x(row - nx, x) : along_x(row, x);
}

// One thread per value; unsigned, because the differences wrap.
extern "C" __global__ void differences(const unsigned *q, unsigned *codes, unsigned nz, unsigned ny,
                                       unsigned nx)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nz * ny * nx)
        return;
    unsigned x = i % nx, y = i / nx % ny, z = i / nx / ny;
    const unsigned *plane = q + z * ny * nx;
    unsigned code = along_xy(plane, y, x, nx);
    codes[i] = z > 0 ? code - along_xy(plane - ny * nx, y, x, nx) : code;
}
