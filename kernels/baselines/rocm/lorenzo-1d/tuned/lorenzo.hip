// Four values per thread, so that a warp moves 512 contiguous bytes with one instruction each way.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256;

extern "C" __global__ void __launch_bounds__(THREADS)
differences(const unsigned *__restrict__ q, unsigned *__restrict__ codes, unsigned n)
{
    unsigned quad = blockIdx.x * THREADS + threadIdx.x, at = 4 * quad;
    bool whole = n - at >= 4 && at < n;
    uint4 now = make_uint4(0, 0, 0, 0);
    if (whole)
        now = reinterpret_cast<const uint4 *>(q)[quad];
    // The value before a thread's own four is in the registers of its neighbour.
    unsigned before = __shfl_up(now.w, 1, 32);
    if (threadIdx.x % 32 == 0)
        before = at > 0 && at < n ? q[at - 1] : 0;
    if (whole) {
        uint4 d = make_uint4(now.x - before, now.y - now.x, now.z - now.y, now.w - now.z);
        reinterpret_cast<uint4 *>(codes)[quad] = d;
    } else {
        for (; at < n; at++) {
            codes[at] = q[at] - before;
            before = q[at];
        }
    }
}
