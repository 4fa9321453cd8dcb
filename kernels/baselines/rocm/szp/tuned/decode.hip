// szp, the way back, in one pass: a thread block takes a chunk of 4096 values, learns from the
// blocks before it where its payload begins (decoupled look-back), and brings it into shared
// memory, so that every access to global memory is contiguous. encode.hip says how values lie in
// threads.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

// Left as a call, a function would keep its arrays in memory.
#define DEVICE __device__ __forceinline__

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, TILES = 4, EACH = 4;
constexpr unsigned BLOCK = 32, CHUNK = THREADS * TILES * EACH, BLOCKS = CHUNK / BLOCK;
constexpr unsigned MASKED = 32, WHOLE_FILL = 254, RAW = 255, CHECKS = 32;

// The votes of the 32 lanes that work together; a wavefront may hold two times as many.
DEVICE unsigned ballot(bool vote)
{
    unsigned long long votes = __ballot(vote);
    return (unsigned)(warpSize == 64 && threadIdx.x & 32 ? votes >> 32 : votes);
}

typedef unsigned long long u64;

// What blocks and kernels of one call share; the host clears it.
struct Control {
    u64 largest;         // bits of the largest magnitude within reach
    u64 outside;         // n - i of the first element i that is not; 0 if there is none
    u64 blocks_done;
    double step;
    u64 fill, has_fill;
    u64 end;             // words of all payloads
    u64 bad;             // a stream that the format refuses
    u64 checks[CHECKS];  // parts of the check sum
};

// --- Numbers. ---
template <class Real> struct Kind;
template <> struct Kind<float> {
    typedef unsigned Bits;
    typedef float4 Vector;
    static DEVICE float real(Bits b) { return __uint_as_float(b); }
};
template <> struct Kind<double> {
    typedef u64 Bits;
    typedef double2 Vector;
    static DEVICE double real(Bits b) { return __longlong_as_double(b); }
};
DEVICE float mul(float a, float b) { return a * b; }
DEVICE double mul(double a, double b) { return a * b; }

template <class Value> DEVICE Value warp_sum(Value v)
{
    for (unsigned d = 16; d > 0; d /= 2)
        v += __shfl_xor(v, d, 32);
    return v;
}

// Sum of the lanes up to this one.
DEVICE unsigned warp_scan(unsigned v, unsigned lane)
{
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up(v, d, 32);
        v += lane >= d ? below : 0;
    }
    return v;
}

// Exchange the bit of weight `s` in a bit's place with the choice between words a and b.
DEVICE void exchange(unsigned &a, unsigned &b, unsigned s, unsigned mask)
{
    unsigned t = ((a >> s) ^ b) & mask;
    b ^= t;
    a ^= t << s;
}

// Word j of lane l of eight: in, the bits of value 4l + j; out, bit 4l + j of every value. Its own
// inverse.
DEVICE void transpose(unsigned v[EACH], unsigned lane)
{
    exchange(v[0], v[1], 1, 0x55555555u);
    exchange(v[2], v[3], 1, 0x55555555u);
    exchange(v[0], v[2], 2, 0x33333333u);
    exchange(v[1], v[3], 2, 0x33333333u);
    const unsigned masks[3] = {0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
#pragma unroll
    for (unsigned k = 0; k < 3; k++) {
        bool upper = lane >> k & 1;
        unsigned keep = upper ? ~masks[k] : masks[k], turn = upper ? 32 - (4u << k) : 4u << k;
#pragma unroll
        for (unsigned j = 0; j < EACH; j++) {
            unsigned other = __shfl_xor(v[j], 1u << k, 32);
            v[j] = (v[j] & keep) | ((other << turn | other >> (32 - turn)) & ~keep);
        }
    }
}

// Decoupled look-back, by the 32 lanes of one warp: the sum of what all earlier chunks have. A
// state carries its meaning in its top bits, so that one 64-bit access publishes both.
constexpr u64 PARTIAL = 1ull << 62, PREFIX = 1ull << 63;

DEVICE u64 look_back(volatile u64 *states, unsigned chunk, u64 own, unsigned lane)
{
    if (lane == 0)
        states[chunk] = own | (chunk == 0 ? PREFIX : PARTIAL);
    u64 before = 0;
    for (long long at = (long long)chunk - 1 - lane; ; at -= 32) {
        u64 seen;
        do {
            seen = at >= 0 ? states[at] : PREFIX;
        } while (ballot(seen < PARTIAL) != 0);
        unsigned ends = ballot(seen >= PREFIX);
        // Lanes beyond the nearest prefix are already in it.
        bool counts = ends == 0 || lane <= __ffs(ends) - 1;
        before += warp_sum(counts ? seen & ~(PARTIAL | PREFIX) : 0);
        if (ends != 0)
            break;
    }
    if (lane == 0 && chunk > 0)
        states[chunk] = (before + own) | PREFIX;
    return before;
}

// --- Four values of a thread. ---
template <class Real>
DEVICE void store(Real *__restrict__ x, const Real v[EACH], unsigned at, unsigned n)
{
    typedef typename Kind<Real>::Vector Vector;
    if (at < n && n - at >= EACH) {
        Vector *to = reinterpret_cast<Vector *>(x + at);
#pragma unroll
        for (unsigned k = 0; k < EACH * sizeof(Real) / sizeof(Vector); k++)
            to[k] = *reinterpret_cast<const Vector *>(&v[k * sizeof(Vector) / sizeof(Real)]);
    } else {
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            if (at + j < n)
                x[at + j] = v[j];
    }
}

// Value i of a raw block; payloads are aligned to words only.
template <class Real> DEVICE Real read(const unsigned *stored, unsigned i)
{
    typedef typename Kind<Real>::Bits Bits;
    if constexpr (sizeof(Real) == 4)
        return Kind<Real>::real(stored[i]);
    else
        return Kind<Real>::real(stored[2 * i] | (Bits)stored[2 * i + 1] << 32);
}

// Words of a block's payload.
template <class Real> DEVICE unsigned payload_words(unsigned code, unsigned count)
{
    if (code == WHOLE_FILL)
        return 0;
    if (code == RAW)
        return count * (sizeof(Real) / 4);
    unsigned rate = code % MASKED;
    return (rate > 0 ? rate + 1 : 0) + code / MASKED;
}

DEVICE unsigned values_in(unsigned block, unsigned n)
{
    return block * BLOCK < n ? min(n - block * BLOCK, BLOCK) : 0;
}

// --- Decompression. ---
// Whether a decoder knows the code.
DEVICE bool legal(unsigned code, bool lossless, bool has_fill)
{
    if (code == RAW)
        return true;
    if (lossless)
        return false;
    return code < MASKED || (has_fill && (code < 2 * MASKED || code == WHOLE_FILL));
}

// A block's planes, sign word and mask word, as four differences and four mask bits of a thread.
DEVICE unsigned undo_planes(int d[EACH], const unsigned *payload, unsigned code,
                                unsigned eighth)
{
    unsigned rate = code % MASKED, mask = 0, planes[EACH];
    if (code >= 2 * MASKED)
        rate = 0;
    else if (code >= MASKED)
        mask = *payload++;
    mask = code == WHOLE_FILL ? 15 : mask >> (4 * eighth) & 15;
    unsigned signs = rate > 0 ? payload[0] >> (4 * eighth) : 0;
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        unsigned k = eighth * EACH + j;
        planes[j] = k < rate ? payload[1 + k] : 0;
    }
    transpose(planes, eighth);
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        unsigned size = mask >> j & 1 ? 0 : planes[j];
        d[j] = signs >> j & 1 ? 0u - size : size;
    }
    return mask;
}

template <class Real>
DEVICE void decode(const unsigned *__restrict__ body, u64 body_words, Real *__restrict__ out,
                       unsigned n, u64 *states, Control *control)
{
    typedef Kind<Real> K;
    __shared__ unsigned stage[BLOCKS * (sizeof(Real) == 4 ? 33 : 64)];
    __shared__ unsigned places[BLOCKS], codes[BLOCKS / 4], sums[WARPS];
    __shared__ unsigned words;
    __shared__ u64 begin;
    const unsigned char *code_bytes = reinterpret_cast<const unsigned char *>(codes);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = blockIdx.x;
    unsigned blocks = (n + BLOCK - 1) / BLOCK, chunks = gridDim.x;
    unsigned front = chunks + (blocks + 3) / 4;
    Real step = (Real)control->step;
    u64 check = 0;
    bool bad = false;

    if (warp == 0) {
        unsigned at = chunks + chunk * (BLOCKS / 4) + lane, sizes[4], sum = 0;
        unsigned four_codes = at < front ? body[at] : 0;
        check += (2ull * at + 1) * four_codes;
        codes[lane] = four_codes;
        for (unsigned k = 0; k < 4; k++) {
            unsigned code = four_codes >> (8 * k) & 255;
            unsigned count = values_in(chunk * BLOCKS + lane * 4 + k, n);
            bool known = count > 0 ? legal(code, step == 0, control->has_fill) : code == 0;
            bad |= !known;
            sizes[k] = known && count > 0 ? payload_words<Real>(code, count) : 0;
            sum += sizes[k];
        }
        unsigned place = warp_scan(sum, lane) - sum;
        unsigned total = __shfl(place + sum, 31, 32);
        for (unsigned k = 0; k < 4; k++) {
            places[lane * 4 + k] = place;
            place += sizes[k];
        }
        u64 before = look_back(states, chunk, total, lane);
        if (lane == 0) {
            words = total;
            begin = before;
            if (chunk == chunks - 1)
                bad |= front + before + total != body_words;
            check += (2ull * chunk + 1) * body[chunk];
        }
    }
    __syncthreads();

    for (unsigned i = threadIdx.x; i < words; i += THREADS) {
        u64 at = front + begin + i;
        unsigned word = at < body_words ? body[at] : 0;
        check += (2 * at + 1) * word;
        stage[i] = word;
    }
    __syncthreads();

    unsigned running[TILES][EACH], filled[TILES], carry = 0;
#pragma unroll
    for (unsigned t = 0; t < TILES; t++) {
        unsigned block = warp * (BLOCKS / WARPS) + t * 4 + lane / 8;
        int d[EACH];
        filled[t] = undo_planes(d, stage + places[block], code_bytes[block], lane % 8);
        for (unsigned j = 1; j < EACH; j++)
            d[j] += d[j - 1];
        unsigned up_to = warp_scan(d[EACH - 1], lane);
        for (unsigned j = 0; j < EACH; j++)
            running[t][j] = d[j] + carry + up_to - d[EACH - 1];
        carry += __shfl(up_to, 31, 32);
    }
    if (lane == 0)
        sums[warp] = carry;
    __syncthreads();

    unsigned base = body[chunk];
    for (unsigned w = 0; w < warp; w++)
        base += sums[w];
#pragma unroll
    for (unsigned t = 0; t < TILES; t++) {
        unsigned block = warp * (BLOCKS / WARPS) + t * 4 + lane / 8;
        unsigned at = chunk * CHUNK + block * BLOCK + lane % 8 * EACH;
        Real v[EACH];
#pragma unroll
        for (unsigned j = 0; j < EACH; j++) {
            Real x = mul((Real)(int)(base + running[t][j]), step);
            v[j] = filled[t] >> j & 1 ? K::real((typename K::Bits)control->fill) : x;
        }
        if (code_bytes[block] == RAW) {
            const unsigned *stored = stage + places[block];
#pragma unroll
            for (unsigned j = 0; j < EACH; j++)
                if (at + j < n)
                    v[j] = read<Real>(stored, lane % 8 * EACH + j);
        }
        store(out, v, at, n);
    }

    check = warp_sum(check);
    if (lane == 0)
        atomicAdd(&control->checks[(chunk * WARPS + warp) % CHECKS], check);
    if (bad)
        atomicOr(&control->bad, 1ull);
}

extern "C" __global__ void __launch_bounds__(THREADS)
decode_f32(const unsigned *body, u64 body_words, float *out, unsigned n, u64 *states,
           Control *control)
{ decode(body, body_words, out, n, states, control); }

extern "C" __global__ void __launch_bounds__(THREADS)
decode_f64(const unsigned *body, u64 body_words, double *out, unsigned n, u64 *states,
           Control *control)
{ decode(body, body_words, out, n, states, control); }
