// szx with one thread per block of 128 values. Compiled once per data type: DOUBLE says which.
#include <hip/hip_runtime.h>

// A fused multiply-add would break the bound.
#pragma clang fp contract(off)

#ifdef DOUBLE
typedef double Real;
typedef unsigned long long Bits;
constexpr int MANTISSA = 52, BIAS = 1023;
#else
typedef float Real;
typedef unsigned Bits;
constexpr int MANTISSA = 23, BIAS = 127;
#endif
typedef unsigned long long u64;
typedef unsigned char u8;

constexpr unsigned BLOCK = 128, WIDTH = sizeof(Real), MASK_WORDS = BLOCK / 32;
constexpr unsigned MASKED = 32, WHOLE_FILL = 254, RAW = 255;
constexpr Bits TOP = Bits(1) << (8 * WIDTH - 1);

// An integer that orders as the value does.
__device__ Bits ordered(Bits bits)
{
    return bits & TOP ? ~bits : bits | TOP;
}

__device__ Bits pattern(Bits y)
{
    return y & TOP ? y ^ TOP : ~y;
}

__device__ int exponent(Bits bits)
{
    return (int)((bits & ~TOP) >> MANTISSA);
}

__device__ Real real_of(Bits bits)
{
    return *reinterpret_cast<Real *>(&bits);
}

__device__ Bits bits_of(Real x)
{
    return *reinterpret_cast<Bits *>(&x);
}

// y as `drop` bits less leave it, rounded.
__device__ Bits shortened(Bits y, unsigned drop)
{
    return (y + ((Bits(1) << drop) >> 1)) >> drop;
}

// Payloads are aligned to words only.
__device__ Bits get_item(const unsigned *from)
{
    return WIDTH == 4 ? from[0] : (Bits)((u64)from[1] << 32 | from[0]);
}

__device__ void put_item(unsigned *to, Bits item)
{
    for (unsigned k = 0; k < WIDTH / 4; k++)
        to[k] = (unsigned)((u64)item >> (32 * k));
}

// Words of a plane.
__device__ unsigned plane_words(unsigned count)
{
    return (count + 3) / 4;
}

__device__ unsigned payload_words(unsigned code, unsigned count)
{
    if (code == WHOLE_FILL)
        return 0;
    if (code == RAW)
        return count * WIDTH / 4;
    unsigned mask = code >= MASKED ? MASK_WORDS : 0;
    return mask + WIDTH / 4 + code % MASKED * plane_words(count);
}

__device__ unsigned values_in(unsigned block, unsigned n)
{
    return min(n - block * BLOCK, BLOCK);
}

// What each block becomes. Mapping and rounding keep the order, so that the extremes decide it.
extern "C" __global__ void plan(const Bits *x, unsigned n, Real tolerance, int log2_bound, u64 fill,
                                int has_fill, u8 *codes, u8 *drops, Bits *items, unsigned *sizes)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block * BLOCK >= n)
        return;
    unsigned count = values_in(block, n), masked = 0;
    Bits low = ~Bits(0), high = 0;
    for (unsigned i = 0; i < count; i++) {
        Bits bits = x[block * BLOCK + i];
        if (has_fill && bits == (Bits)fill) {
            masked++;
        } else {
            low = min(low, ordered(bits));
            high = max(high, ordered(bits));
        }
    }
    if (masked == count) {
        codes[block] = WHOLE_FILL;
        drops[block] = 0;
        sizes[block] = 0;
        return;
    }
    Bits low_bits = pattern(low), high_bits = pattern(high);
    int largest = max(exponent(low_bits), exponent(high_bits));
    int drop = log2_bound - (max(largest, 1) - BIAS) + MANTISSA + 1;
    drop = min(max(drop, 0), MANTISSA);
    // Rounding the top finite exponent could reach infinity.
    if (largest >= 2 * BIAS)
        drop = 0;
    Bits base = shortened(low, drop), spread = shortened(high, drop) - base, item = base;
    unsigned planes = 0;
    while (planes < WIDTH && spread >> (8 * planes))
        planes++;
    if (planes == 0)
        item = pattern(base << drop);
    Real smallest = real_of(low_bits), greatest = real_of(high_bits);
    Real middle = smallest * Real(0.5) + greatest * Real(0.5);
    bool close = greatest - middle <= tolerance && middle - smallest <= tolerance;
    if (low == high) {
        planes = 0;
        item = low_bits;
    } else if (tolerance > 0 && largest <= 2 * BIAS && close) {
        planes = 0;
        item = middle == 0 ? 0 : bits_of(middle);
    }
    unsigned code = planes + (masked ? MASKED : 0);
    if (planes == WIDTH || (planes > 0 && payload_words(code, count) >= payload_words(RAW, count)))
        code = RAW;
    codes[block] = code;
    drops[block] = planes > 0 && code != RAW ? drop : 0;
    items[block] = item;
    sizes[block] = payload_words(code, count);
}

// Write each block's payload before `ends`.
extern "C" __global__ void pack(const Bits *x, unsigned n, u64 fill, const u8 *codes,
                                const u8 *drops, const Bits *items, const unsigned *sizes,
                                const u64 *ends, unsigned *payload)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block * BLOCK >= n || codes[block] == WHOLE_FILL)
        return;
    unsigned count = values_in(block, n), code = codes[block], drop = drops[block];
    const Bits *from = x + block * BLOCK;
    unsigned *to = payload + (ends[block] - sizes[block]);
    if (code == RAW) {
        for (unsigned i = 0; i < count; i++)
            put_item(to + i * WIDTH / 4, from[i]);
        return;
    }
    if (code >= MASKED)
        for (unsigned k = 0; k < MASK_WORDS; k++) {
            unsigned mask = 0;
            for (unsigned i = 32 * k; i < min(32 * k + 32, count); i++)
                mask |= (from[i] == (Bits)fill) << i % 32;
            *to++ = mask;
        }
    put_item(to, items[block]);
    u8 *bytes = reinterpret_cast<u8 *>(to + WIDTH / 4);
    for (unsigned k = 0; k < code % MASKED; k++)
        for (unsigned i = 0; i < 4 * plane_words(count); i++) {
            bool absent = i >= count || (code >= MASKED && from[i] == (Bits)fill);
            Bits delta = absent ? 0 : shortened(ordered(from[i]), drop) - items[block];
            *bytes++ = (u8)(delta >> (8 * k));
        }
}

// The way back. A code or drop that is not legal has no size and sets `bad`.
extern "C" __global__ void find_sizes(const u8 *codes, const u8 *drops, unsigned n, int has_fill,
                                      unsigned *sizes, int *bad)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block * BLOCK >= n)
        return;
    unsigned code = codes[block], planes = code < 2 * MASKED ? code % MASKED : 0;
    bool known = code == RAW || (code < MASKED && planes < WIDTH);
    if (has_fill)
        known |= code == WHOLE_FILL || (code < 2 * MASKED && planes < WIDTH);
    known &= drops[block] <= (planes > 0 ? MANTISSA : 0);
    if (!known)
        *bad = 1;
    sizes[block] = known ? payload_words(code, values_in(block, n)) : 0;
}

extern "C" __global__ void unpack(const unsigned *payload, const u8 *codes, const u8 *drops,
                                  const unsigned *sizes, const u64 *ends, unsigned n, u64 fill,
                                  Bits *x, int *bad)
{
    unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block * BLOCK >= n)
        return;
    unsigned count = values_in(block, n), code = codes[block];
    const unsigned *from = payload + (ends[block] - sizes[block]);
    Bits *to = x + block * BLOCK;
    if (code == RAW || code == WHOLE_FILL) {
        for (unsigned i = 0; i < count; i++)
            to[i] = code == RAW ? get_item(from + i * WIDTH / 4) : (Bits)fill;
        return;
    }
    const unsigned *mask = from;
    from += code >= MASKED ? MASK_WORDS : 0;
    Bits item = get_item(from);
    const u8 *planes = reinterpret_cast<const u8 *>(from + WIDTH / 4);
    unsigned padded = 4 * plane_words(count);
    for (unsigned i = 0; i < padded; i++) {
        Bits delta = 0;
        for (unsigned k = 0; k < code % MASKED; k++)
            delta |= (Bits)planes[k * padded + i] << (8 * k);
        if (i >= count) {
            if (delta != 0)
                *bad = 1;
        } else if (code >= MASKED && mask[i / 32] >> i % 32 & 1) {
            to[i] = (Bits)fill;
        } else {
            to[i] = code % MASKED > 0 ? pattern((item + delta) << drops[block]) : item;
        }
    }
}
