// szp step by step: one thread per value, per block of 32 values or per chunk of 128 blocks.
// Compiled once per data type: DOUBLE says which.
#include <hip/hip_runtime.h>

// A fused multiply-add would break the bound.
#pragma clang fp contract(off)

#ifdef DOUBLE
typedef double Real;
typedef unsigned long long Bits;
#define MAGIC 6755399441055744.0
#define LIMIT 1073741824.0
#else
typedef float Real;
typedef unsigned Bits;
#define MAGIC 12582912.0f
#define LIMIT 4194304.0f
#endif
typedef unsigned long long u64;

constexpr unsigned BLOCK = 32, CHUNK = 4096, BLOCKS = CHUNK / BLOCK;
constexpr unsigned MASKED = 32, WHOLE_FILL = 254, RAW = 255, ITEM_WORDS = sizeof(Real) / 4;
enum Kind : unsigned char { KEPT, FILL, NEITHER };

__device__ unsigned my_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ Bits bits_of(Real x)
{
    return *reinterpret_cast<Bits *>(&x);
}

__device__ Real real_of(Bits bits)
{
    return *reinterpret_cast<Real *>(&bits);
}

__device__ Real magnitude(Real x)
{
    return x < 0 ? -x : x;
}

// Words of a block's payload; one thread per block knows nothing of the others'.
__device__ unsigned payload_words(unsigned code, unsigned block, unsigned n)
{
    unsigned rate = code % MASKED;
    if (code == WHOLE_FILL)
        return 0;
    if (code == RAW)
        return min(n - block * BLOCK, BLOCK) * ITEM_WORDS;
    return (rate > 0 ? rate + 1 : 0) + code / MASKED;
}

// What each value becomes. A value is kept if what it comes back as proves to be within the bound;
// with step 0 none is.
extern "C" __global__ void quantise(const Real *x, unsigned n, Real step, Real tolerance, u64 fill,
                                    int has_fill, int *q, unsigned char *kinds)
{
    unsigned i = my_index();
    if (i >= n)
        return;
    Real p = x[i] * (1 / step), t = p + MAGIC, f = t - MAGIC;
    bool kept = magnitude(f) < LIMIT && magnitude(x[i] - f * step) <= tolerance;
    q[i] = kept ? (int)f : 0;
    kinds[i] = has_fill && bits_of(x[i]) == (Bits)fill ? FILL : kept ? KEPT : NEITHER;
}

// RAW, WHOLE_FILL, MASKED (some fill) or 0 for each block.
extern "C" __global__ void classify(const unsigned char *kinds, unsigned n, unsigned char *classes)
{
    unsigned block = my_index(), first = block * BLOCK;
    if (first >= n)
        return;
    unsigned last = min(first + BLOCK, n), fills = 0, lost = 0;
    for (unsigned i = first; i < last; i++) {
        fills += kinds[i] == FILL;
        lost += kinds[i] == NEITHER;
    }
    unsigned some = fills == last - first ? WHOLE_FILL : MASKED;
    classes[block] = lost ? RAW : fills ? some : 0;
}

__device__ bool is_active(unsigned i, const unsigned char *kinds, const unsigned char *classes)
{
    return kinds[i] == KEPT && classes[i / BLOCK] != RAW;
}

// The q of each chunk's first active value.
extern "C" __global__ void find_bases(const int *q, const unsigned char *kinds,
                                      const unsigned char *classes, unsigned n, int *bases)
{
    unsigned chunk = my_index(), i = chunk * CHUNK;
    if (i >= n)
        return;
    unsigned last = min(i + CHUNK, n);
    while (i < last && !is_active(i, kinds, classes))
        i++;
    bases[chunk] = i < last ? q[i] : 0;
}

// Differences of active values to the active one before, which may be blocks away.
extern "C" __global__ void difference(const int *q, const unsigned char *kinds,
                                      const unsigned char *classes, const int *bases, unsigned n,
                                      int *differences, unsigned char *codes, unsigned *sizes)
{
    unsigned block = my_index(), first = block * BLOCK;
    if (first >= n)
        return;
    unsigned chunk = block / BLOCKS, before = first, last = min(first + BLOCK, n), seen = 0;
    while (before > chunk * CHUNK && !is_active(before - 1, kinds, classes))
        before--;
    int running = before > chunk * CHUNK ? q[before - 1] : bases[chunk];
    for (unsigned i = first; i < last; i++) {
        bool active = is_active(i, kinds, classes);
        differences[i] = active ? q[i] - running : 0;
        running = active ? q[i] : running;
        seen |= abs(differences[i]);
    }
    unsigned rate = 32 - __clz(seen);
    unsigned code = classes[block] > MASKED ? classes[block] : classes[block] + rate;
    codes[block] = code;
    sizes[block] = payload_words(code, block, n);
}

// Write each block's payload before `ends`.
extern "C" __global__ void pack(const Real *x, const unsigned char *kinds, const int *differences,
                                const unsigned char *codes, const unsigned *sizes, const u64 *ends,
                                unsigned n, unsigned *payload)
{
    unsigned block = my_index(), first = block * BLOCK;
    if (first >= n)
        return;
    unsigned code = codes[block], count = min(n - first, BLOCK), mask = 0, signs = 0;
    unsigned *to = payload + (ends[block] - sizes[block]);
    if (code == WHOLE_FILL)
        return;
    if (code == RAW) {
        const unsigned *from = reinterpret_cast<const unsigned *>(x + first);
        for (unsigned k = 0; k < count * ITEM_WORDS; k++)
            to[k] = from[k];
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        mask |= (kinds[first + i] == FILL) << i;
        signs |= (differences[first + i] < 0) << i;
    }
    if (code >= MASKED)
        *to++ = mask;
    if (code % MASKED > 0)
        *to++ = signs;
    for (unsigned k = 0; k < code % MASKED; k++) {
        unsigned plane = 0;
        for (unsigned i = 0; i < count; i++)
            plane |= ((abs(differences[first + i]) >> k) & 1) << i;
        to[k] = plane;
    }
}

// The way back. A code that is not legal has no size and sets `bad`.
extern "C" __global__ void find_sizes(const unsigned char *codes, unsigned n, int lossless,
                                      int has_fill, unsigned *sizes, int *bad)
{
    unsigned block = my_index();
    if (block * BLOCK >= n)
        return;
    unsigned code = codes[block];
    bool filled = has_fill && (code < 2 * MASKED || code == WHOLE_FILL);
    bool legal = code == RAW || (!lossless && (code < MASKED || filled));
    if (!legal)
        *bad = 1;
    sizes[block] = legal ? payload_words(code, block, n) : 0;
}

struct Coded {
    unsigned mask, signs, rate;
    const unsigned *planes;

    __device__ Coded(const unsigned *payload, unsigned code)
    {
        rate = code < 2 * MASKED ? code % MASKED : 0;
        mask = code == WHOLE_FILL ? ~0u : 0;
        if (code >= MASKED && code < 2 * MASKED)
            mask = *payload++;
        signs = rate > 0 ? payload[0] : 0;
        planes = payload + 1;
    }
    // Modulo 2^32.
    __device__ unsigned difference(unsigned i) const
    {
        unsigned size = 0;
        for (unsigned k = 0; k < rate; k++)
            size |= (planes[k] >> i & 1) << k;
        if (mask >> i & 1)
            return 0;
        return signs >> i & 1 ? 0 - size : size;
    }
};

// The sum of each block's differences.
extern "C" __global__ void add_up(const unsigned *payload, const unsigned char *codes,
                                  const unsigned *sizes, const u64 *ends, unsigned n,
                                  unsigned *totals)
{
    unsigned block = my_index();
    if (block * BLOCK >= n)
        return;
    Coded coded(payload + (ends[block] - sizes[block]), codes[block]);
    unsigned total = 0;
    for (unsigned i = 0; i < BLOCK; i++)
        total += coded.difference(i);
    totals[block] = total;
}

extern "C" __global__ void restore(const unsigned *payload, const unsigned char *codes,
                                   const unsigned *sizes, const u64 *ends, const unsigned *totals,
                                   const unsigned *bases, unsigned n, Real step, u64 fill, Real *x)
{
    unsigned block = my_index(), first = block * BLOCK, chunk = block / BLOCKS;
    if (first >= n)
        return;
    const unsigned *from = payload + (ends[block] - sizes[block]);
    unsigned count = min(n - first, BLOCK), running = bases[chunk];
    if (codes[block] == RAW) {
        unsigned *to = reinterpret_cast<unsigned *>(x + first);
        for (unsigned k = 0; k < count * ITEM_WORDS; k++)
            to[k] = from[k];
        return;
    }
    for (unsigned b = chunk * BLOCKS; b < block; b++)
        running += totals[b];
    Coded coded(from, codes[block]);
    for (unsigned i = 0; i < count; i++) {
        running += coded.difference(i);
        x[first + i] = coded.mask >> i & 1 ? real_of((Bits)fill) : (Real)(int)running * step;
    }
}
