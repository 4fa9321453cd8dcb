// One thread per value. Compiled with -fmad=false: a fused multiply-add would break the bound.
extern "C" __global__ void quantize(const float *x, unsigned n, float step, float tolerance, int *q,
                                    unsigned char *ok)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Adding 1.5 * 2^23 rounds to an integer.
    float t = x[i] * (1.0f / step) + 12582912.0f, f = t - 12582912.0f;
    // False for NaN.
    bool kept = fabsf(f) < 4194304.0f && fabsf(x[i] - f * step) <= tolerance;
    q[i] = kept ? (int)f : 0;
    ok[i] = kept;
}
