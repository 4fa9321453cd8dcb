// Running sums in place, along one axis of an array of outer x length x inner values. One thread
// per line; unsigned, because sums wrap.
extern "C" __global__ void sum_lines(unsigned *q, unsigned outer, unsigned length, unsigned inner)
{
    unsigned line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= outer * inner)
        return;
    unsigned *at = q + line / inner * length * inner + line % inner;
    unsigned sum = 0;
    for (unsigned i = 0; i < length; i++) {
        sum += at[i * inner];
        at[i * inner] = sum;
    }
}
