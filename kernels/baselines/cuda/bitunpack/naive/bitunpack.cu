// One thread per value, which gathers its bits from the planes of its block. `ends`: where those
// end.
extern "C" __global__ void unpack(const unsigned char *rates, const unsigned *words,
                                  const unsigned *ends, unsigned n, unsigned *values)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned rate = rates[i / 32], value = 0;
    const unsigned *planes = words + (ends[i / 32] - rate);
    for (unsigned k = 0; k < rate; k++)
        value |= (planes[k] >> i % 32 & 1) << k;
    values[i] = value;
}
