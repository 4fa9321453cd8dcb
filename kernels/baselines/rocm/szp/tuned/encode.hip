// szp in one pass over memory each way: a thread block takes a chunk of 4096 values, learns from
// the blocks before it where its payload begins (decoupled look-back), and moves it by way of
// shared memory, so that every access to global memory is contiguous.
//
// A thread holds four neighbouring values of a tile of 128, eight threads a block of 32. Bit planes
// are the transpose of a 32 x 32 bit matrix of four words in each of eight lanes: five exchanges,
// two of them in registers, three by shuffles.
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

// A fused multiply-add would break the bound.
#pragma clang fp contract(off)

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
    static constexpr unsigned SIGN = 1u << 31;
    static constexpr double UNIT = 1.0 / (1u << 24);
    static constexpr float MAGIC = 12582912.0f, LIMIT = 4194304.0f;
    static DEVICE Bits bits(float x) { return __float_as_uint(x); }
    static DEVICE float real(Bits b) { return __uint_as_float(b); }
};
template <> struct Kind<double> {
    typedef u64 Bits;
    typedef double2 Vector;
    static constexpr u64 SIGN = 1ull << 63;
    static constexpr double UNIT = 1.0 / (1ull << 53);
    static constexpr double MAGIC = 6755399441055744.0, LIMIT = 1073741824.0;
    static DEVICE Bits bits(double x) { return __double_as_longlong(x); }
    static DEVICE double real(Bits b) { return __longlong_as_double(b); }
};
DEVICE float mul(float a, float b) { return a * b; }
DEVICE float add(float a, float b) { return a + b; }
DEVICE float sub(float a, float b) { return a - b; }
DEVICE float inverse(float a) { return 1.0f / a; }
DEVICE double mul(double a, double b) { return a * b; }
DEVICE double add(double a, double b) { return a + b; }
DEVICE double sub(double a, double b) { return a - b; }
DEVICE double inverse(double a) { return 1.0 / a; }

template <class Real> DEVICE Real magnitude(Real x)
{
    return Kind<Real>::real(Kind<Real>::bits(x) & ~Kind<Real>::SIGN);
}

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

// OR over the eight lanes of a block.
DEVICE unsigned block_or(unsigned v)
{
    for (unsigned d = 4; d > 0; d /= 2)
        v |= __shfl_xor(v, d, 32);
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

// --- Compression, first pass: the largest magnitude within reach, and the fill value. ---
template <class Real> struct Seen {
    typename Kind<Real>::Bits largest;
    unsigned outside;

    DEVICE void look(Real x, unsigned i, unsigned n, typename Kind<Real>::Bits limit)
    {
        typename Kind<Real>::Bits size = Kind<Real>::bits(x) & ~Kind<Real>::SIGN;
        // As integers, magnitudes order as they do as numbers, with infinities and NaN on top.
        if (size < limit)
            largest = max(largest, size);
        else
            outside = max(outside, n - i);
    }
    DEVICE void join_lanes()
    {
        for (unsigned d = 16; d > 0; d /= 2) {
            largest = max(largest, __shfl_xor(largest, d, 32));
            outside = max(outside, __shfl_xor(outside, d, 32));
        }
    }
};

template <class Real>
DEVICE void settle(const Real *x, unsigned n, Control *control, double tolerance)
{
    typedef Kind<Real> K;
    double largest = K::real((typename K::Bits)atomicMax(&control->largest, 0ull));
    unsigned outside = (unsigned)atomicMax(&control->outside, 0ull);
    double slack = mul(3.001 * K::UNIT, largest);
    double ideal = mul(mul(2.0, sub(tolerance, slack)), 1.0 - 8.0 * K::UNIT);
    Real step = (Real)ideal;
    if ((double)step > ideal)
        step = K::real(K::bits(step) - 1);
    control->step = step;
    control->has_fill = outside > 0;
    control->fill = outside > 0 ? K::bits(x[n - outside]) : 0;
}

template <class Real>
DEVICE void measure(const Real *__restrict__ x, unsigned n, Control *control, Real limit,
                        double tolerance)
{
    typedef Kind<Real> K;
    constexpr unsigned WIDTH = sizeof(typename K::Vector) / sizeof(Real);
    __shared__ Seen<Real> by_warp[WARPS];
    typename K::Bits limit_bits = K::bits(limit);
    Seen<Real> seen = {0, 0};
    unsigned stride = gridDim.x * THREADS;
#pragma unroll 4
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n / WIDTH; i += stride) {
        typename K::Vector v = reinterpret_cast<const typename K::Vector *>(x)[i];
        const Real *parts = reinterpret_cast<const Real *>(&v);
#pragma unroll
        for (unsigned j = 0; j < WIDTH; j++)
            seen.look(parts[j], i * WIDTH + j, n, limit_bits);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % WIDTH) {
        unsigned i = n / WIDTH * WIDTH + threadIdx.x;
        seen.look(x[i], i, n, limit_bits);
    }
    seen.join_lanes();
    if (threadIdx.x % 32 == 0)
        by_warp[threadIdx.x / 32] = seen;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    seen = threadIdx.x < WARPS ? by_warp[threadIdx.x] : Seen<Real>{0, 0};
    seen.join_lanes();
    if (threadIdx.x > 0)
        return;
    atomicMax(&control->largest, (u64)seen.largest);
    atomicMax(&control->outside, (u64)seen.outside);
    __threadfence();
    // The block that is done last knows everything.
    if (atomicAdd(&control->blocks_done, 1ull) == gridDim.x - 1)
        settle(x, n, control, tolerance);
}

// --- Four values of a thread. ---
template <class Real>
DEVICE void load(Real v[EACH], const Real *__restrict__ x, unsigned at, unsigned n)
{
    typedef typename Kind<Real>::Vector Vector;
    if (at < n && n - at >= EACH) {
        const Vector *from = reinterpret_cast<const Vector *>(x + at);
#pragma unroll
        for (unsigned k = 0; k < EACH * sizeof(Real) / sizeof(Vector); k++)
            *reinterpret_cast<Vector *>(&v[k * sizeof(Vector) / sizeof(Real)]) = from[k];
    } else {
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            v[j] = at + j < n ? x[at + j] : Real(0);
    }
}

// How many of `most` values from `at` on there are.
DEVICE unsigned present(unsigned at, unsigned n, unsigned most)
{
    return at < n ? min(n - at, most) : 0;
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

// --- Compression, second pass. ---
// Bit j of each field belongs to value j of a thread's four.
struct Four {
    int q[EACH];
    unsigned active, filled;
    bool raw, whole;
};

template <class Real>
DEVICE Four quantise(const Real *__restrict__ x, unsigned at, unsigned n, Real step,
                         Real turned, Real tolerance, const Control *control, unsigned lane)
{
    typedef Kind<Real> K;
    Real v[EACH];
    load(v, x, at, n);
    unsigned there = (1u << present(at, n, EACH)) - 1, kept = 0;
    Four four = {};
    bool has_fill = control->has_fill;
    typename K::Bits fill = (typename K::Bits)control->fill;
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        Real p = mul(v[j], turned), t = add(p, K::MAGIC), f = sub(t, K::MAGIC);
        Real error = magnitude(sub(v[j], mul(f, step)));
        kept |= (magnitude(f) < K::LIMIT && error <= tolerance) << j;
        four.filled |= (has_fill && K::bits(v[j]) == fill) << j;
        // The integer sits in the low bits of t.
        four.q[j] = (int)((unsigned)K::bits(t) - (unsigned)K::bits(K::MAGIC));
    }
    four.filled &= there;
    unsigned group = 0xFFu << (lane & 24);
    four.raw = (ballot((there & ~kept & ~four.filled) != 0) & group) != 0;
    if (has_fill) {
        bool some = (ballot(four.filled != 0) & group) != 0;
        four.whole = (ballot((there & ~four.filled) != 0) & group) == 0 && some;
        if (!some || four.raw || four.whole)
            four.filled = 0;
    }
    four.active = four.raw || four.whole ? 0 : there & ~four.filled;
    return four;
}

// The first and the last active value of a thread's four.
DEVICE int first_of(const Four &four)
{
    int first = four.q[3];
    for (int j = 2; j >= 0; j--)
        first = four.active >> j & 1 ? four.q[j] : first;
    return first;
}
DEVICE int last_of(const Four &four)
{
    int last = four.q[0];
    for (int j = 1; j < 4; j++)
        last = four.active >> j & 1 ? four.q[j] : last;
    return last;
}

// Turns q into magnitudes of differences; the signs are returned. `running` is the last active q
// before this tile, then in it.
DEVICE unsigned difference(Four &four, int &running, unsigned lane)
{
    unsigned have = ballot(four.active != 0), below = have & ((1u << lane) - 1);
    int last = last_of(four);
    int before = __shfl(last, below ? 31 - __clz(below) : 0, 32);
    before = below ? before : running;
    int carried = __shfl(last, have ? 31 - __clz(have) : 0, 32);
    running = have ? carried : running;
    unsigned signs = 0;
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        bool active = four.active >> j & 1;
        int d = active ? four.q[j] - before : 0;
        before = active ? four.q[j] : before;
        signs |= (d < 0) << j;
        four.q[j] = d < 0 ? -d : d;
    }
    return signs;
}

// Store a word of the body; returns its part of the check sum.
DEVICE u64 put(unsigned *body, u64 at, unsigned word)
{
    body[at] = word;
    return (2 * at + 1) * word;
}

template <class Real>
DEVICE void encode(const Real *__restrict__ x, unsigned n, unsigned *__restrict__ body,
                       u64 *states, Control *control, Real tolerance)
{
    __shared__ unsigned stage[BLOCKS * (sizeof(Real) == 4 ? 33 : 64)];
    __shared__ unsigned places[BLOCKS], codes[BLOCKS / 4];
    __shared__ int firsts[WARPS], lasts[WARPS];
    __shared__ bool active[WARPS];
    __shared__ unsigned words;
    __shared__ u64 begin;
    unsigned char *code_bytes = reinterpret_cast<unsigned char *>(codes);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = blockIdx.x;
    unsigned blocks = (n + BLOCK - 1) / BLOCK, chunks = gridDim.x;
    unsigned front = chunks + (blocks + 3) / 4;
    unsigned start = chunk * CHUNK + warp * (CHUNK / WARPS) + lane * EACH;
    unsigned own_block = warp * (BLOCKS / WARPS) + lane / 8;

    Real step = (Real)control->step, turned = inverse(step);
    Four fours[TILES];
    int first = 0, last = 0;
    bool any = false;
#pragma unroll
    for (unsigned t = 0; t < TILES; t++) {
        fours[t] = quantise(x, start + t * 128, n, step, turned, tolerance, control, lane);
        unsigned have = ballot(fours[t].active != 0);
        if (have) {
            int tile_first = __shfl(first_of(fours[t]), __ffs(have) - 1, 32);
            first = any ? first : tile_first;
            last = __shfl(last_of(fours[t]), 31 - __clz(have), 32);
            any = true;
        }
    }
    if (lane == 0) {
        firsts[warp] = first;
        lasts[warp] = last;
        active[warp] = any;
    }
    __syncthreads();

    unsigned warps = ballot(lane < WARPS && active[lane % WARPS]);
    unsigned earlier = warps & ((1u << warp) - 1);
    int base = warps ? firsts[__ffs(warps) - 1] : 0;
    int running = earlier ? lasts[31 - __clz(earlier)] : base;
    unsigned signs[TILES], own_codes[TILES];
#pragma unroll
    for (unsigned t = 0; t < TILES; t++) {
        Four &four = fours[t];
        signs[t] = difference(four, running, lane);
        unsigned some = block_or(four.q[0] | four.q[1] | four.q[2] | four.q[3]);
        unsigned masks = block_or(four.filled);
        unsigned code = 32 - __clz(some) + (masks ? MASKED : 0);
        code = four.whole ? WHOLE_FILL : four.raw ? RAW : code;
        own_codes[t] = code;
        if (lane % 8 == 0) {
            unsigned block = own_block + t * 4;
            unsigned count = present((chunk * BLOCKS + block) * BLOCK, n, BLOCK);
            places[block] = payload_words<Real>(code, count);
            code_bytes[block] = code;
        }
    }
    __syncthreads();

    unsigned total = 0;
    if (warp == 0) {
        unsigned sizes[4], sum = 0;
        for (unsigned k = 0; k < 4; k++)
            sum += sizes[k] = places[lane * 4 + k];
        unsigned place = warp_scan(sum, lane) - sum;
        total = __shfl(place + sum, 31, 32);
        if (lane == 0)
            words = total;
        for (unsigned k = 0; k < 4; k++) {
            places[lane * 4 + k] = place;
            place += sizes[k];
        }
    }
    __syncthreads();

    if (warp == 0) {
        u64 before = look_back(states, chunk, total, lane);
        if (lane == 0) {
            begin = before;
            if (chunk == chunks - 1)
                control->end = before + total;
        }
    }
#pragma unroll
    for (unsigned t = 0; t < TILES; t++) {
        Four &four = fours[t];
        unsigned code = own_codes[t], eighth = lane % 8, at = places[own_block + t * 4];
        unsigned rate = code % MASKED;
        unsigned planes[EACH];
        for (unsigned j = 0; j < EACH; j++)
            planes[j] = four.q[j];
        transpose(planes, eighth);
        unsigned sign_word = block_or(signs[t] << (4 * eighth));
        unsigned mask_word = block_or(four.filled << (4 * eighth));
        if (code == RAW) {
            constexpr unsigned WIDTH = sizeof(Real) / 4;
            unsigned from = start + t * 128, count = present(from, n, EACH) * WIDTH;
            const unsigned *stored = reinterpret_cast<const unsigned *>(x + from);
            for (unsigned j = 0; j < count; j++)
                stage[at + eighth * EACH * WIDTH + j] = stored[j];
        } else if (code != WHOLE_FILL) {
            if (eighth == 0 && code >= MASKED)
                stage[at] = mask_word;
            at += code / MASKED;
            if (eighth == 0 && rate > 0)
                stage[at] = sign_word;
#pragma unroll
            for (unsigned j = 0; j < EACH; j++)
                if (eighth * EACH + j < rate)
                    stage[at + 1 + eighth * EACH + j] = planes[j];
        }
    }
    __syncthreads();
    u64 check = 0;
    for (unsigned i = threadIdx.x; i < words; i += THREADS)
        check += put(body, front + begin + i, stage[i]);
    unsigned code_word = chunks + chunk * (BLOCKS / 4) + lane;
    if (warp == 0 && code_word < front)
        check += put(body, code_word, codes[lane]);
    if (threadIdx.x == 0)
        check += put(body, chunk, base);
    check = warp_sum(check);
    if (lane == 0)
        atomicAdd(&control->checks[(chunk * WARPS + warp) % CHECKS], check);
}

extern "C" __global__ void __launch_bounds__(THREADS)
measure_f32(const float *x, unsigned n, Control *control, float limit, double tolerance)
{ measure(x, n, control, limit, tolerance); }

extern "C" __global__ void __launch_bounds__(THREADS)
measure_f64(const double *x, unsigned n, Control *control, double limit, double tolerance)
{ measure(x, n, control, limit, tolerance); }

extern "C" __global__ void __launch_bounds__(THREADS)
encode_f32(const float *x, unsigned n, unsigned *body, u64 *states, Control *control,
           float tolerance)
{ encode(x, n, body, states, control, tolerance); }

extern "C" __global__ void __launch_bounds__(THREADS)
encode_f64(const double *x, unsigned n, unsigned *body, u64 *states, Control *control,
           double tolerance)
{ encode(x, n, body, states, control, tolerance); }
