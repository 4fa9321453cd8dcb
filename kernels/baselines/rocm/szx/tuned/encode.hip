// szx in one pass over memory each way: a warp takes a block of 128 values, four neighbours per
// lane. A byte plane of a block is then one word per lane, so that what is stored needs no
// rearranging. A thread block takes 32 blocks and learns from the thread blocks before it where its
// payload begins (decoupled look-back).
// A wavefront has 32 or 64 lanes; it is used as one or two warps of 32.
#include <hip/hip_runtime.h>

// A fused multiply-add would break the bound.
#pragma clang fp contract(off)

// Left as a call, a function would keep its arrays in memory.
#define DEVICE __device__ __forceinline__

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, STEPS = 4, EACH = 4;
constexpr unsigned BLOCK = 128, BLOCKS = WARPS * STEPS, TILE = BLOCKS * BLOCK, MASK_WORDS = 4;
constexpr unsigned MASKED = 32, WHOLE_FILL = 254, RAW = 255, CHECKS = 32;

// The votes of the 32 lanes that work together; a wavefront may hold two times as many.
DEVICE unsigned ballot(bool vote)
{
    unsigned long long votes = __ballot(vote);
    return (unsigned)(warpSize == 64 && threadIdx.x & 32 ? votes >> 32 : votes);
}

typedef unsigned long long u64;
typedef unsigned char u8;

// What blocks and kernels of one call share; the host clears it.
struct Control {
    u64 outside;         // n - i of the first element i beyond reach; 0 if there is none
    u64 blocks_done;
    u64 fill, has_fill;
    u64 end;             // words of all payloads
    u64 bad;             // a stream that the format refuses
    u64 checks[CHECKS];  // parts of the check sum
};

template <class Real> struct Kind;
template <> struct Kind<float> {
    typedef unsigned Bits;
    typedef uint4 Vector;
    static constexpr int MANTISSA = 23, BIAS = 127;
    static DEVICE Bits bits(float x) { return __float_as_uint(x); }
    static DEVICE float real(Bits b) { return __uint_as_float(b); }
    // In the data type, every operation rounded.
    static DEVICE float middle(float a, float b)
    {
        return (a * 0.5f) + (b * 0.5f);
    }
    static DEVICE float minus(float a, float b) { return a - b; }
};
template <> struct Kind<double> {
    typedef u64 Bits;
    typedef ulonglong2 Vector;
    static constexpr int MANTISSA = 52, BIAS = 1023;
    static DEVICE Bits bits(double x) { return __double_as_longlong(x); }
    static DEVICE double real(Bits b) { return __longlong_as_double(b); }
    static DEVICE double middle(double a, double b)
    {
        return (a * 0.5) + (b * 0.5);
    }
    static DEVICE double minus(double a, double b) { return a - b; }
};
template <class Bits> DEVICE Bits top_bit()
{
    return Bits(1) << (8 * sizeof(Bits) - 1);
}

// An integer that orders as the value does, and back.
template <class Bits> DEVICE Bits ordered(Bits bits)
{
    return bits & top_bit<Bits>() ? ~bits : bits | top_bit<Bits>();
}
template <class Bits> DEVICE Bits pattern(Bits y)
{
    return y & top_bit<Bits>() ? y ^ top_bit<Bits>() : ~y;
}

// y as `drop` bits less leave it, rounded.
template <class Bits> DEVICE Bits shortened(Bits y, unsigned drop)
{
    return (y + ((Bits(1) << drop) >> 1)) >> drop;
}

DEVICE unsigned values_in(unsigned block, unsigned n)
{
    return block * BLOCK < n ? min(n - block * BLOCK, BLOCK) : 0;
}

DEVICE unsigned plane_words(unsigned count)
{
    return (count + 3) / 4;
}

template <class Bits> DEVICE unsigned payload_words(unsigned code, unsigned count)
{
    constexpr unsigned ITEM = sizeof(Bits) / 4;
    if (code == WHOLE_FILL)
        return 0;
    if (code == RAW)
        return count * ITEM;
    return (code >= MASKED ? MASK_WORDS : 0) + ITEM + code % MASKED * plane_words(count);
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

// --- Compression, first pass: the fill value. ---
template <class Real>
DEVICE void find_fill(const typename Kind<Real>::Bits *__restrict__ x, unsigned n,
                          Control *control, Real reach)
{
    typedef Kind<Real> K;
    constexpr unsigned WIDTH = sizeof(typename K::Vector) / sizeof(Real);
    __shared__ unsigned by_warp[WARPS];
    typename K::Bits limit = K::bits(reach), sign = top_bit<typename K::Bits>();
    unsigned outside = 0;
    // As integers, magnitudes order as they do as numbers, with infinities and NaN on top.
#pragma unroll 4
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n / WIDTH; i += gridDim.x * THREADS) {
        typename K::Vector v = reinterpret_cast<const typename K::Vector *>(x)[i];
        const typename K::Bits *parts = reinterpret_cast<const typename K::Bits *>(&v);
#pragma unroll
        for (unsigned j = 0; j < WIDTH; j++)
            if ((parts[j] & ~sign) >= limit)
                outside = max(outside, n - (i * WIDTH + j));
    }
    if (blockIdx.x == 0 && threadIdx.x < n % WIDTH) {
        unsigned i = n / WIDTH * WIDTH + threadIdx.x;
        if ((x[i] & ~sign) >= limit)
            outside = max(outside, n - i);
    }
    for (unsigned d = 16; d > 0; d /= 2)
        outside = max(outside, __shfl_xor(outside, d, 32));
    if (threadIdx.x % 32 == 0)
        by_warp[threadIdx.x / 32] = outside;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned w = 0; w < WARPS; w++)
        outside = max(outside, by_warp[w]);
    atomicMax(&control->outside, (u64)outside);
    __threadfence();
    // The block that is done last knows which was first.
    if (atomicAdd(&control->blocks_done, 1ull) != gridDim.x - 1)
        return;
    unsigned first = (unsigned)atomicMax(&control->outside, 0ull);
    control->has_fill = first > 0;
    control->fill = first > 0 ? x[n - first] : 0;
}

// --- Compression, second pass. ---
template <class Bits> DEVICE void load(Bits v[EACH], const Bits *__restrict__ x, unsigned at,
                                           unsigned n)
{
    if (at < n && n - at >= EACH) {
        if constexpr (sizeof(Bits) == 4) {
            uint4 four = *reinterpret_cast<const uint4 *>(x + at);
            v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
        } else {
            const ulonglong2 *two = reinterpret_cast<const ulonglong2 *>(x + at);
            ulonglong2 front = two[0], back = two[1];
            v[0] = front.x, v[1] = front.y, v[2] = back.x, v[3] = back.y;
        }
    } else {
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            v[j] = at + j < n ? x[at + j] : 0;
    }
}

// Bit j belongs to value j of a lane's four.
template <class Bits> struct Plan {
    Bits item;
    unsigned code, drop, filled;
};

// What a block becomes; every lane comes to the same plan but for `filled`. Mapping and rounding
// keep the order, so that a block's extremes decide it.
template <class Real>
DEVICE Plan<typename Kind<Real>::Bits> make_plan(const typename Kind<Real>::Bits v[EACH],
                                                     unsigned there, unsigned count, int log2_bound,
                                                     Real tolerance, const Control *control)
{
    typedef Kind<Real> K;
    typedef typename K::Bits Bits;
    Plan<Bits> plan = {0, 0, 0, 0};
    if (control->has_fill)
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            plan.filled |= (v[j] == (Bits)control->fill) << j;
    plan.filled &= there;
    unsigned rest = there & ~plan.filled;
    bool masked = ballot(plan.filled != 0) != 0;
    if (ballot(rest != 0) == 0) {
        plan.code = masked ? WHOLE_FILL : 0;
        return plan;
    }
    Bits low = ~Bits(0), high = 0;
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        Bits y = ordered(v[j]);
        low = rest >> j & 1 ? min(low, y) : low;
        high = rest >> j & 1 ? max(high, y) : high;
    }
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) {
        low = min(low, __shfl_xor(low, d, 32));
        high = max(high, __shfl_xor(high, d, 32));
    }
    Bits low_bits = pattern(low), high_bits = pattern(high), sign = top_bit<Bits>();
    int exponent = (int)(max(low_bits & ~sign, high_bits & ~sign) >> K::MANTISSA);
    int drop = log2_bound - (max(exponent, 1) - K::BIAS) + K::MANTISSA + 1;
    drop = min(max(drop, 0), K::MANTISSA);
    // Rounding the top finite exponent could reach infinity.
    drop = exponent >= 2 * K::BIAS ? 0 : drop;
    Bits base = shortened(low, drop), spread = shortened(high, drop) - base;
    unsigned planes = 0;
#pragma unroll
    for (unsigned k = 0; k < sizeof(Bits); k++)
        planes += spread >> (8 * k) != 0;
    plan.item = planes > 0 ? base : pattern(base << drop);
    Real least = K::real(low_bits), most = K::real(high_bits), middle = K::middle(least, most);
    bool close = K::minus(most, middle) <= tolerance && K::minus(middle, least) <= tolerance;
    if (low == high) {
        planes = 0;
        plan.item = low_bits;
    } else if (tolerance > 0 && exponent <= 2 * K::BIAS && close) {
        planes = 0;
        plan.item = middle == 0 ? 0 : K::bits(middle);
    }
    plan.code = planes + (masked ? MASKED : 0);
    unsigned raw = payload_words<Bits>(RAW, count);
    if (planes == sizeof(Bits) || (planes > 0 && payload_words<Bits>(plan.code, count) >= raw))
        plan.code = RAW;
    plan.drop = planes > 0 && plan.code != RAW ? drop : 0;
    return plan;
}

// Store a word of the body; returns its part of the check sum.
DEVICE u64 put(unsigned *body, u64 at, unsigned word)
{
    body[at] = word;
    return (2 * at + 1) * word;
}

// A block's payload, all lanes together; returns a lane's part of the check sum.
template <class Bits>
DEVICE u64 put_block(unsigned *body, u64 at, const Plan<Bits> &plan, const Bits v[EACH],
                         const Bits *stored, unsigned count, unsigned lane)
{
    constexpr unsigned ITEM = sizeof(Bits) / 4;
    u64 check = 0;
    if (plan.code == WHOLE_FILL || count == 0)
        return 0;
    if (plan.code == RAW) {
        const unsigned *words = reinterpret_cast<const unsigned *>(stored);
        for (unsigned i = lane; i < count * ITEM; i += 32)
            check += put(body, at + i, words[i]);
        return check;
    }
    if (plan.code >= MASKED) {
        unsigned mask = plan.filled << (4 * (lane % 8));
        for (unsigned d = 4; d > 0; d /= 2)
            mask |= __shfl_xor(mask, d, 32);
        if (lane % 8 == 0)
            check += put(body, at + lane / 8, mask);
        at += MASK_WORDS;
    }
    if (lane < ITEM)
        check += put(body, at + lane, (unsigned)((u64)plan.item >> (32 * lane)));
    at += ITEM;
    unsigned width = plane_words(count);
    Bits delta[EACH];
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        bool absent = lane * EACH + j >= count || (plan.filled >> j & 1);
        delta[j] = absent ? 0 : shortened(ordered(v[j]), plan.drop) - plan.item;
    }
    for (unsigned k = 0; k < plan.code % MASKED; k++) {
        unsigned word = 0;
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            word |= (unsigned)(delta[j] >> (8 * k) & 255) << (8 * j);
        if (lane < width)
            check += put(body, at + k * width + lane, word);
    }
    return check;
}

template <class Real>
DEVICE void encode(const typename Kind<Real>::Bits *__restrict__ x, unsigned n,
                       unsigned *__restrict__ body, u64 *states, Control *control, Real tolerance,
                       int log2_bound)
{
    typedef typename Kind<Real>::Bits Bits;
    __shared__ unsigned places[BLOCKS], sides[2 * BLOCKS / 4];
    __shared__ u64 begin;
    u8 *codes = reinterpret_cast<u8 *>(sides), *drops = codes + BLOCKS;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = blockIdx.x;
    unsigned blocks = (n + BLOCK - 1) / BLOCK, side = (blocks + 3) / 4;
    Bits v[STEPS][EACH];
    Plan<Bits> plans[STEPS];
#pragma unroll
    for (unsigned s = 0; s < STEPS; s++)
        load(v[s], x, tile * TILE + (s * WARPS + warp) * BLOCK + lane * EACH, n);
#pragma unroll
    for (unsigned s = 0; s < STEPS; s++) {
        unsigned own = s * WARPS + warp, count = values_in(tile * BLOCKS + own, n);
        unsigned there = (1u << (count > lane * EACH ? min(count - lane * EACH, EACH) : 0)) - 1;
        plans[s] = make_plan(v[s], there, count, log2_bound, tolerance, control);
        if (lane == 0) {
            codes[own] = plans[s].code;
            drops[own] = plans[s].drop;
            places[own] = count > 0 ? payload_words<Bits>(plans[s].code, count) : 0;
        }
    }
    __syncthreads();

    u64 check = 0;
    if (warp == 0) {
        unsigned size = places[lane], up_to = warp_scan(size, lane);
        unsigned total = __shfl(up_to, 31, 32);
        places[lane] = up_to - size;
        u64 before = look_back(states, tile, total, lane);
        if (lane == 0) {
            begin = before;
            if (tile == gridDim.x - 1)
                control->end = before + total;
        }
    } else if (warp == 1 && lane < 2 * BLOCKS / 4) {
        unsigned at = tile * (BLOCKS / 4) + lane % (BLOCKS / 4);
        if (at < side)
            check += put(body, lane < BLOCKS / 4 ? at : side + at, sides[lane]);
    }
    __syncthreads();

#pragma unroll
    for (unsigned s = 0; s < STEPS; s++) {
        unsigned own = s * WARPS + warp, block = tile * BLOCKS + own;
        u64 at = 2 * side + begin + places[own];
        check += put_block(body, at, plans[s], v[s], x + (u64)block * BLOCK, values_in(block, n),
                           lane);
    }
    check = warp_sum(check);
    if (lane == 0)
        atomicAdd(&control->checks[(tile * WARPS + warp) % CHECKS], check);
}

extern "C" __global__ void __launch_bounds__(THREADS)
find_fill_f32(const unsigned *x, unsigned n, Control *control, float reach)
{ find_fill(x, n, control, reach); }

extern "C" __global__ void __launch_bounds__(THREADS)
encode_f32(const unsigned *x, unsigned n, unsigned *body, u64 *states, Control *control,
           float tolerance, int log2_bound)
{ encode(x, n, body, states, control, tolerance, log2_bound); }

extern "C" __global__ void __launch_bounds__(THREADS)
find_fill_f64(const u64 *x, unsigned n, Control *control, double reach)
{ find_fill(x, n, control, reach); }

extern "C" __global__ void __launch_bounds__(THREADS)
encode_f64(const u64 *x, unsigned n, unsigned *body, u64 *states, Control *control,
           double tolerance, int log2_bound)
{ encode(x, n, body, states, control, tolerance, log2_bound); }
