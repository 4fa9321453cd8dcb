#include <hip/hip_runtime.h>

// One thread per code; equal codes meet at one address in global memory.
extern "C" __global__ void count(const unsigned short *codes, unsigned n, unsigned *counts,
                                 unsigned nbins)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && codes[i] < nbins)
        atomicAdd(&counts[codes[i]], 1u);
}
