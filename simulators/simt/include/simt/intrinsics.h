// Bit, conversion and rounding intrinsics; each one exact.
#pragma once
#include "math.h"

SIMT_BOTH int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_BOTH int __clzll(long long x) { return x ? __builtin_clzll((simt_u64)x) : 64; }
SIMT_BOTH int __ffs(int x) { return __builtin_ffs(x); }
SIMT_BOTH int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_BOTH int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_BOTH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_BOTH unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SIMT_BOTH unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// Byte i of the result is byte s & 7 of the eight in {y, x}; 8 in s replicates the sign instead.
SIMT_BOTH unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    simt_u64 bytes = (simt_u64)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = s >> 4 * i & 15, byte = (unsigned)(bytes >> 8 * (pick & 7)) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
SIMT_BOTH unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((simt_u64)hi << 32 | lo) << (shift & 31) >> 32);
}
SIMT_BOTH unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((simt_u64)hi << 32 | lo) << (shift < 32 ? shift : 32) >> 32);
}
SIMT_BOTH unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((simt_u64)hi << 32 | lo) >> (shift & 31));
}
SIMT_BOTH unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((simt_u64)hi << 32 | lo) >> (shift < 32 ? shift : 32));
}
SIMT_BOTH int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
SIMT_BOTH unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
SIMT_BOTH int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
SIMT_BOTH unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((simt_u64)x * y >> 32); }
SIMT_BOTH long long __mul64hi(long long x, long long y) {
    return (long long)((__int128)x * y >> 64);
}
SIMT_BOTH unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
SIMT_BOTH unsigned __sad(int x, int y, unsigned z) {
    return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
SIMT_BOTH unsigned __usad(unsigned x, unsigned y, unsigned z) {
    return z + (x > y ? x - y : y - x);
}
SIMT_BOTH int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
SIMT_BOTH int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
SIMT_BOTH unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((simt_u64)x + y) >> 1); }
SIMT_BOTH unsigned __urhadd(unsigned x, unsigned y) {
    return (unsigned)(((simt_u64)x + y + 1) >> 1);
}
SIMT_BOTH int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
    return c;
}
SIMT_BOTH unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
    return c;
}
SIMT_BOTH int __dp2a_lo(int a, int b, int c) {
    return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
SIMT_BOTH int __dp2a_hi(int a, int b, int c) {
    return c + (short)a * (signed char)(b >> 16) + (short)(a >> 16) * (signed char)(b >> 24);
}
#ifdef SIMT_HIP
SIMT_BOTH int __clz(unsigned x) { return __clz((int)x); }
SIMT_BOTH int __ffs(unsigned x) { return __ffs((int)x); }
SIMT_BOTH int __ffsll(unsigned long long x) { return __ffsll((long long)x); }
SIMT_BOTH int __clzll(unsigned long long x) { return __clzll((long long)x); }
SIMT_BOTH unsigned __bitextract_u32(unsigned x, unsigned at, unsigned width) {
    return width ? x >> at & (0xffffffffu >> (32 - width)) : 0;
}
SIMT_FN unsigned __lane_id() { return __simt_lane(); }
SIMT_FN unsigned __mbcnt_lo(unsigned mask, unsigned add) {
    unsigned lane = __simt_lane();
    return add + __popc(mask & (lane < 32 ? (1u << lane) - 1 : ~0u));
}
SIMT_FN unsigned __mbcnt_hi(unsigned mask, unsigned add) {
    unsigned lane = __simt_lane();
    return add + __popc(lane < 32 ? 0 : mask & ((1u << (lane - 32)) - 1));
}
#endif

SIMT_BOTH int __float_as_int(float x) { return simt_cast<int>(x); }
SIMT_BOTH unsigned __float_as_uint(float x) { return simt_cast<unsigned>(x); }
SIMT_BOTH float __int_as_float(int x) { return simt_cast<float>(x); }
SIMT_BOTH float __uint_as_float(unsigned x) { return simt_cast<float>(x); }
SIMT_BOTH long long __double_as_longlong(double x) { return simt_cast<long long>(x); }
SIMT_BOTH double __longlong_as_double(long long x) { return simt_cast<double>(x); }
SIMT_BOTH int __double2hiint(double x) { return (int)(simt_cast<simt_u64>(x) >> 32); }
SIMT_BOTH int __double2loint(double x) { return (int)simt_cast<simt_u64>(x); }
SIMT_BOTH double __hiloint2double(int hi, int lo) {
    return simt_cast<double>((simt_u64)(unsigned)hi << 32 | (unsigned)lo);
}
SIMT_BOTH float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// To integers: what is out of range becomes the nearest value, NaN 0 (PTX, cvt), which is how the
// front end compiles these casts. Each name in its four directions.
#define SIMT_ROUNDED(name, to, from, suffix)                                                       \
    SIMT_BOTH to name##_rn(from x) { return (to)__builtin_rint##suffix(x); }                       \
    SIMT_BOTH to name##_rz(from x) { return (to)x; }                                               \
    SIMT_BOTH to name##_ru(from x) { return (to)__builtin_ceil##suffix(x); }                       \
    SIMT_BOTH to name##_rd(from x) { return (to)__builtin_floor##suffix(x); }
SIMT_ROUNDED(__float2int, int, float, f)
SIMT_ROUNDED(__float2uint, unsigned, float, f)
SIMT_ROUNDED(__float2ll, long long, float, f)
SIMT_ROUNDED(__float2ull, unsigned long long, float, f)
SIMT_ROUNDED(__double2int, int, double, )
SIMT_ROUNDED(__double2uint, unsigned, double, )
SIMT_ROUNDED(__double2ll, long long, double, )
SIMT_ROUNDED(__double2ull, unsigned long long, double, )
#undef SIMT_ROUNDED
SIMT_BOTH double __int2double_rn(int x) { return x; }
SIMT_BOTH double __uint2double_rn(unsigned x) { return x; }
SIMT_MATH float __fdividef(float x, float y) { return x / y; }
SIMT_MATH float fdividef(float x, float y) { return x / y; }

SIMT_MATH float __expf(float x) { return __builtin_expf(x); }
SIMT_MATH float __exp10f(float x) { return __builtin_exp10f(x); }
SIMT_MATH float __logf(float x) { return __builtin_logf(x); }
SIMT_MATH float __log2f(float x) { return __builtin_log2f(x); }
SIMT_MATH float __log10f(float x) { return __builtin_log10f(x); }
SIMT_MATH float __powf(float x, float y) { return __builtin_powf(x, y); }
SIMT_MATH float __sinf(float x) { return __builtin_sinf(x); }
SIMT_MATH float __cosf(float x) { return __builtin_cosf(x); }
SIMT_MATH float __tanf(float x) { return __builtin_tanf(x); }
// To about 100 bits, rounded to odd and then to float.
SIMT_BOTH float __frsqrt_rn(float x) {
    if (!(x > 0) || __builtin_isinf(x)) return 1.0f / __builtin_sqrtf(x);
    double root = 1.0 / __builtin_sqrt((double)x), one = x * root;
    double rest = __builtin_fma(-one, root, 1.0) - __builtin_fma(x, root, -one) * root;
    double more = root * rest * 0.5, sum = root + more, error = more - (sum - root);
    simt_u64 bits = simt_cast<simt_u64>(sum);
    if (error != 0 && !(bits & 1)) bits += error > 0 ? 1 : -1;
    return (float)simt_cast<double>(bits);
}
