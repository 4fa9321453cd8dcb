// szx, the way back, in one pass: a warp takes a block of 128 values, four neighbours per lane, so
// that a byte plane of a block is one word per lane. A thread block takes 32 blocks and learns from
// the thread blocks before it where its payload begins (decoupled look-back).
constexpr unsigned FULL = 0xFFFFFFFFu, THREADS = 256, WARPS = THREADS / 32, STEPS = 4, EACH = 4;
constexpr unsigned BLOCK = 128, BLOCKS = WARPS * STEPS, TILE = BLOCKS * BLOCK, MASK_WORDS = 4;
constexpr unsigned MASKED = 32, WHOLE_FILL = 254, RAW = 255, CHECKS = 32;

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

template <class Bits> __device__ Bits top_bit()
{
    return Bits(1) << (8 * sizeof(Bits) - 1);
}

// From an integer that orders as the value does.
template <class Bits> __device__ Bits pattern(Bits y)
{
    return y & top_bit<Bits>() ? y ^ top_bit<Bits>() : ~y;
}

__device__ unsigned values_in(unsigned block, unsigned n)
{
    return block * BLOCK < n ? min(n - block * BLOCK, BLOCK) : 0;
}

__device__ unsigned plane_words(unsigned count)
{
    return (count + 3) / 4;
}

template <class Bits> __device__ unsigned payload_words(unsigned code, unsigned count)
{
    constexpr unsigned ITEM = sizeof(Bits) / 4;
    if (code == WHOLE_FILL)
        return 0;
    if (code == RAW)
        return count * ITEM;
    return (code >= MASKED ? MASK_WORDS : 0) + ITEM + code % MASKED * plane_words(count);
}

template <class Value> __device__ Value warp_sum(Value v)
{
    for (unsigned d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(FULL, v, d);
    return v;
}

// Sum of the lanes up to this one.
__device__ unsigned warp_scan(unsigned v, unsigned lane)
{
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(FULL, v, d);
        v += lane >= d ? below : 0;
    }
    return v;
}

// Decoupled look-back, by the 32 lanes of one warp: the sum of what all earlier chunks have. A
// state carries its meaning in its top bits, so that one 64-bit access publishes both.
constexpr u64 PARTIAL = 1ull << 62, PREFIX = 1ull << 63;

__device__ u64 look_back(volatile u64 *states, unsigned chunk, u64 own, unsigned lane)
{
    if (lane == 0)
        states[chunk] = own | (chunk == 0 ? PREFIX : PARTIAL);
    u64 before = 0;
    for (long long at = (long long)chunk - 1 - lane; ; at -= 32) {
        u64 seen;
        do {
            seen = at >= 0 ? states[at] : PREFIX;
        } while (__any_sync(FULL, seen < PARTIAL));
        unsigned ends = __ballot_sync(FULL, seen >= PREFIX);
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

// --- Decompression. ---
// What has been read of the body, and what of it adds up to the check sum.
struct Reader {
    const unsigned *body;
    u64 words, check;

    // `counts`: the lane of those that read a word which answers for it.
    __device__ unsigned get(u64 at, bool counts = true)
    {
        // Only a damaged stream leads beyond its end.
        unsigned word = at < words ? body[at] : 0;
        check += counts ? (2 * at + 1) * word : 0;
        return word;
    }
};

template <class Bits> __device__ bool legal(unsigned code, unsigned drop, bool has_fill)
{
    constexpr unsigned MANTISSA = sizeof(Bits) == 4 ? 23 : 52;
    bool planes = code < 2 * MASKED && code % MASKED > 0;
    if (drop > (planes ? MANTISSA : 0))
        return false;
    if (code == RAW)
        return true;
    if (code >= MASKED && !has_fill)
        return false;
    return code == WHOLE_FILL || (code < 2 * MASKED && code % MASKED < sizeof(Bits));
}

template <class Bits> __device__ void store(Bits *__restrict__ x, const Bits v[EACH], unsigned at,
                                            unsigned n)
{
    if (at < n && n - at >= EACH) {
        if constexpr (sizeof(Bits) == 4) {
            *reinterpret_cast<uint4 *>(x + at) = make_uint4(v[0], v[1], v[2], v[3]);
        } else {
            ulonglong2 *two = reinterpret_cast<ulonglong2 *>(x + at);
            two[0] = make_ulonglong2(v[0], v[1]);
            two[1] = make_ulonglong2(v[2], v[3]);
        }
    } else {
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            if (at + j < n)
                x[at + j] = v[j];
    }
}

// The values of one block, all lanes together. False if a byte that pads a plane is not zero.
template <class Bits>
__device__ bool get_block(Reader &reader, u64 at, unsigned code, unsigned drop, Bits fill,
                          Bits *out, unsigned count, unsigned lane)
{
    constexpr unsigned ITEM = sizeof(Bits) / 4;
    if (code == RAW) {
        unsigned *words = reinterpret_cast<unsigned *>(out);
        for (unsigned i = lane; i < count * ITEM; i += 32)
            words[i] = reader.get(at + i);
        return true;
    }
    unsigned filled = code == WHOLE_FILL ? 15 : 0;
    unsigned planes = code % MASKED, width = plane_words(count);
    Bits item = 0, delta[EACH] = {0, 0, 0, 0};
    if (code == WHOLE_FILL) {
        planes = 0;
    } else {
        if (code >= MASKED) {
            filled = reader.get(at + lane / 8, lane % 8 == 0) >> (4 * (lane % 8)) & 15;
            at += MASK_WORDS;
        }
#pragma unroll
        for (unsigned k = 0; k < ITEM; k++)
            item |= (Bits)reader.get(at + k, lane == 0) << (32 * k);
        at += ITEM;
    }
    for (unsigned k = 0; k < planes; k++) {
        unsigned word = lane < width ? reader.get(at + k * width + lane) : 0;
#pragma unroll
        for (unsigned j = 0; j < EACH; j++)
            delta[j] |= (Bits)(word >> (8 * j) & 255) << (8 * k);
    }
    bool padded = true;
    Bits values[EACH];
#pragma unroll
    for (unsigned j = 0; j < EACH; j++) {
        padded &= lane * EACH + j < count || delta[j] == 0;
        values[j] = planes > 0 ? pattern((item + delta[j]) << drop) : item;
        values[j] = filled >> j & 1 ? fill : values[j];
    }
    store(out, values, lane * EACH, count);
    return padded;
}

template <class Bits>
__device__ void decode(const unsigned *__restrict__ body, u64 body_words,
                       Bits *__restrict__ out, unsigned n, u64 *states,
                       Control *control)
{
    __shared__ unsigned places[BLOCKS];
    __shared__ u8 codes[BLOCKS], drops[BLOCKS];
    __shared__ u64 begin;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = blockIdx.x;
    unsigned blocks = (n + BLOCK - 1) / BLOCK, side = (blocks + 3) / 4;
    Reader reader = {body, body_words, 0};
    bool bad = false;
    if (warp == 0) {
        unsigned word = tile * (BLOCKS / 4) + lane / 4, shift = 8 * (lane % 4);
        unsigned code = 0, drop = 0, count = values_in(tile * BLOCKS + lane, n);
        if (word < side) {
            code = reader.get(word, lane % 4 == 0) >> shift & 255;
            drop = reader.get(side + word, lane % 4 == 0) >> shift & 255;
        }
        bool known = count > 0 ? legal<Bits>(code, drop, control->has_fill) : code + drop == 0;
        bad = !known;
        codes[lane] = known ? code : WHOLE_FILL;
        drops[lane] = drop;
        unsigned size = known && count > 0 ? payload_words<Bits>(code, count) : 0;
        unsigned up_to = warp_scan(size, lane), total = __shfl_sync(FULL, up_to, 31);
        places[lane] = up_to - size;
        u64 before = look_back(states, tile, total, lane);
        if (lane == 0) {
            begin = before;
            if (tile == gridDim.x - 1)
                bad |= 2 * side + before + total != body_words;
        }
    }
    __syncthreads();

    for (unsigned s = 0; s < STEPS; s++) {
        unsigned own = s * WARPS + warp, block = tile * BLOCKS + own, count = values_in(block, n);
        u64 at = 2 * side + begin + places[own];
        if (count > 0)
            bad |= !get_block(reader, at, codes[own], drops[own], (Bits)control->fill,
                              out + (u64)block * BLOCK, count, lane);
    }
    u64 check = warp_sum(reader.check);
    if (lane == 0)
        atomicAdd(&control->checks[(tile * WARPS + warp) % CHECKS], check);
    if (bad)
        atomicOr(&control->bad, 1ull);
}

extern "C" __global__ void __launch_bounds__(THREADS)
decode_f32(const unsigned *body, u64 body_words, unsigned *out, unsigned n, u64 *states,
           Control *control)
{ decode(body, body_words, out, n, states, control); }

extern "C" __global__ void __launch_bounds__(THREADS)
decode_f64(const unsigned *body, u64 body_words, u64 *out, unsigned n, u64 *states,
           Control *control)
{ decode(body, body_words, out, n, states, control); }
