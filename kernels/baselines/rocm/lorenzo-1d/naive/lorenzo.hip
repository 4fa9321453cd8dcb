#include <hip/hip_runtime.h>

// One thread per value; unsigned, because the differences wrap.
extern "C" __global__ void differences(const unsigned *q, unsigned *codes, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        codes[i] = i > 0 ? q[i] - q[i - 1] : q[i];
}
