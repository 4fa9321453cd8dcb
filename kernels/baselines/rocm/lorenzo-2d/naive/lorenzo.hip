#include <hip/hip_runtime.h>

// One thread per value; unsigned, because the differences wrap.
extern "C" __global__ void differences(const unsigned *q, unsigned *codes, unsigned ny, unsigned nx)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ny * nx)
        return;
    unsigned x = i % nx, y = i / nx;
    unsigned left = x > 0 ? q[i - 1] : 0;
    unsigned above = y > 0 ? q[i - nx] : 0;
    unsigned corner = x > 0 && y > 0 ? q[i - nx - 1] : 0;
    codes[i] = q[i] - left - above + corner;
}
