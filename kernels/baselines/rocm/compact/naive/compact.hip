#include <hip/hip_runtime.h>

// One thread per word of a slot; most slots are not full. `ends`: where each block ends.
extern "C" __global__ void move(const unsigned *slots, const unsigned *sizes, const unsigned *ends,
                                unsigned long long words, unsigned cap, unsigned *packed)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned block = i / cap, at = i % cap;
    if (at < sizes[block])
        packed[ends[block] - sizes[block] + at] = slots[i];
}
