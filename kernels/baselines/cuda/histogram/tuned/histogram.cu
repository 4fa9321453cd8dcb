// Each thread block counts in shared memory, in as many copies of the histogram as fit. Copies of a
// bin lie side by side, so that lanes which meet the same code use different banks.
extern __shared__ unsigned own[];

// A run of equal codes is one addition: neighbours of a smooth field are often equal.
struct Run {
    unsigned code, length;

    __device__ void flush(unsigned *counts, unsigned copies, unsigned nbins)
    {
        if (length > 0 && code < nbins)
            atomicAdd(&counts[code * copies + threadIdx.x % copies], length);
    }
    __device__ void add(unsigned next, unsigned *counts, unsigned copies, unsigned nbins)
    {
        if (next == code) {
            length++;
            return;
        }
        flush(counts, copies, nbins);
        code = next;
        length = 1;
    }
};

// Eight codes per 128-bit load, grid-strided; the last n % 8 one by one.
__device__ void tally(const unsigned short *__restrict__ codes, unsigned n, unsigned *counts,
                      unsigned copies, unsigned nbins)
{
    Run run = {0, 0};
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = thread; i < n / 8; i += gridDim.x * blockDim.x) {
        uint4 v = reinterpret_cast<const uint4 *>(codes)[i];
        unsigned pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            run.add(pairs[k] & 0xFFFF, counts, copies, nbins);
            run.add(pairs[k] >> 16, counts, copies, nbins);
        }
    }
    if (thread < n % 8)
        run.add(codes[n / 8 * 8 + thread], counts, copies, nbins);
    run.flush(counts, copies, nbins);
}

extern "C" __global__ void count_shared(const unsigned short *codes, unsigned n, unsigned *counts,
                                        unsigned nbins, unsigned copies)
{
    for (unsigned i = threadIdx.x; i < nbins * copies; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    tally(codes, n, own, copies, nbins);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < nbins; bin += blockDim.x) {
        unsigned sum = 0;
        // Neighbours start at different copies, and so at different banks.
        for (unsigned k = 0; k < copies; k++)
            sum += own[bin * copies + (k + threadIdx.x) % copies];
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}

// For more bins than shared memory holds.
extern "C" __global__ void count_global(const unsigned short *codes, unsigned n, unsigned *counts,
                                        unsigned nbins)
{
    tally(codes, n, counts, 1, nbins);
}
