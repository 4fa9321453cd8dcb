constexpr unsigned BLOCK = 32;

// One thread per block of 32 values: how many bits its largest has.
extern "C" __global__ void measure(const unsigned *values, unsigned n, unsigned char *rates)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x, seen = 0;
    if (block * BLOCK >= n)
        return;
    for (unsigned i = block * BLOCK; i < min(block * BLOCK + BLOCK, n); i++)
        seen |= values[i];
    rates[block] = 32 - __clz(seen);
}

// Bit i of plane k is bit k of value i. `ends`: where the planes of each block end.
extern "C" __global__ void pack(const unsigned *values, unsigned n, const unsigned char *rates,
                                const unsigned *ends, unsigned *words)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block * BLOCK >= n)
        return;
    unsigned count = min(n - block * BLOCK, BLOCK), rate = rates[block];
    for (unsigned k = 0; k < rate; k++) {
        unsigned plane = 0;
        for (unsigned i = 0; i < count; i++)
            plane |= (values[block * BLOCK + i] >> k & 1) << i;
        words[ends[block] - rate + k] = plane;
    }
}
