// __half and __half2: 16-bit storage, every operation rounded once, in integer code that needs no
// F16C. Sums, products, quotients and roots of halves may be rounded to float first (24 >= 2*11 + 2
// bits); a fused multiply-add goes through a double that was rounded to odd.
#pragma once
#include "rounding.h"

SIMT_BOTH float simt_half_to_float(unsigned short bits) {
    unsigned magnitude = bits & 0x7fffu, sign = (unsigned)(bits & 0x8000) << 16;
    float scaled = simt_cast<float>(magnitude << 13) * 0x1p112f;
    unsigned special = magnitude << 13 | 0x7f800000u;
    unsigned value = magnitude >= 0x7c00 ? special : simt_cast<unsigned>(scaled);
    return simt_cast<float>(value | sign);
}
// Rounds a double to nearest even, toward zero, up or down.
SIMT_BOTH unsigned short simt_double_to_half(double x, simt_direction direction = SIMT_TO_NEAREST) {
    simt_u64 bits = simt_cast<simt_u64>(x), magnitude = bits & ~(1ull << 63);
    unsigned sign = (unsigned)(bits >> 48) & 0x8000;
    if (magnitude > 0x7ffull << 52) return 0x7fff;
    int exponent = (int)(magnitude >> 52) - 1023;
    bool away = direction == (sign ? SIMT_DOWN : SIMT_UP);
    if (magnitude == 0x7ffull << 52) return (unsigned short)(sign | 0x7c00);
    if (exponent >= 16) {
        return (unsigned short)(sign | (direction == SIMT_TO_NEAREST || away ? 0x7c00 : 0x7bff));
    }
    if (magnitude == 0) return (unsigned short)sign;
    if (exponent < -26) return (unsigned short)(sign | away);
    int drop = exponent >= -14 ? 42 : 42 + (-14 - exponent);
    simt_u64 significand = (magnitude & ((1ull << 52) - 1)) | 1ull << 52;
    simt_u64 kept = significand >> drop, rest = significand & ((1ull << drop) - 1);
    simt_u64 half = 1ull << (drop - 1);
    bool up = direction == SIMT_TO_NEAREST ? rest > half || (rest == half && (kept & 1))
                                           : away && rest != 0;
    unsigned base = exponent >= -14 ? (unsigned)(exponent + 14) << 10 : 0;
    return (unsigned short)(sign | (base + (unsigned)kept + up));
}
SIMT_BOTH unsigned short simt_float_to_half(float x) {
    unsigned bits = simt_cast<unsigned>(x), magnitude = bits & 0x7fffffffu;
    unsigned sign = bits >> 16 & 0x8000;
    // Below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24.
    unsigned small = simt_cast<unsigned>(simt_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    unsigned normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
    unsigned result = magnitude < 0x38800000u ? small : normal;
    result = magnitude >= 0x47800000u ? 0x7c00 : result;
    return (unsigned short)(magnitude > 0x7f800000u ? 0x7fff : sign | result);
}
SIMT_BOTH double simt_rounded_to_odd_fma(double x, double y, double z) {
    double product = x * y, sum = product + z;
    double back = sum - product, error = (product - (sum - back)) + (z - back);
    simt_u64 bits = simt_cast<simt_u64>(sum);
    if (error != 0 && error == error && !(bits & 1)) {
        bits += (error > 0) == (sum > 0) ? 1 : -1;
    }
    return simt_cast<double>(bits);
}

struct __half_raw {
    unsigned short x;
};
struct __attribute__((aligned(2))) __half {
    unsigned short __x;
    __half() = default;
    SIMT_BOTH_METHOD constexpr __half(__half_raw raw) : __x(raw.x) {}
    SIMT_BOTH_METHOD __half(float v) : __x(simt_float_to_half(v)) {}
    SIMT_BOTH_METHOD __half(double v) : __x(simt_double_to_half(v)) {}
    SIMT_BOTH_METHOD __half(int v) : __x(simt_double_to_half(v)) {}
    SIMT_BOTH_METHOD __half(unsigned v) : __x(simt_double_to_half(v)) {}
    SIMT_BOTH_METHOD __half(short v) : __x(simt_float_to_half(v)) {}
    SIMT_BOTH_METHOD __half(unsigned short v) : __x(simt_float_to_half(v)) {}
    SIMT_BOTH_METHOD __half(long v) : __x(simt_double_to_half((double)v)) {}
    SIMT_BOTH_METHOD __half(unsigned long v) : __x(simt_double_to_half((double)v)) {}
    SIMT_BOTH_METHOD __half(long long v) : __x(simt_double_to_half((double)v)) {}
    SIMT_BOTH_METHOD __half(unsigned long long v) : __x(simt_double_to_half((double)v)) {}
    SIMT_BOTH_METHOD operator float() const { return simt_half_to_float(__x); }
    SIMT_BOTH_METHOD operator __half_raw() const { return __half_raw{__x}; }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    SIMT_BOTH_METHOD __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half half;
typedef __half2 half2;

SIMT_BOTH __half simt_half_of_bits(unsigned short bits) { return __half(__half_raw{bits}); }
SIMT_BOTH __half __float2half(float x) { return __half(x); }
SIMT_BOTH __half __float2half_rn(float x) { return __half(x); }
SIMT_BOTH __half __double2half(double x) { return __half(x); }
SIMT_BOTH __half __float2half_rz(float x) {
    return simt_half_of_bits(simt_double_to_half(x, SIMT_TO_ZERO));
}
SIMT_BOTH __half __float2half_ru(float x) {
    return simt_half_of_bits(simt_double_to_half(x, SIMT_UP));
}
SIMT_BOTH __half __float2half_rd(float x) {
    return simt_half_of_bits(simt_double_to_half(x, SIMT_DOWN));
}
SIMT_BOTH float __half2float(__half x) { return x; }
SIMT_BOTH int __half2int_rn(__half x) { return __float2int_rn(x); }
SIMT_BOTH int __half2int_rz(__half x) { return __float2int_rz(x); }
SIMT_BOTH int __half2int_ru(__half x) { return __float2int_ru(x); }
SIMT_BOTH int __half2int_rd(__half x) { return __float2int_rd(x); }
SIMT_BOTH unsigned __half2uint_rn(__half x) { return __float2uint_rn(x); }
SIMT_BOTH unsigned __half2uint_rz(__half x) { return __float2uint_rz(x); }
SIMT_BOTH __half __int2half_rn(int x) { return __half(x); }
SIMT_BOTH __half __uint2half_rn(unsigned x) { return __half(x); }
SIMT_BOTH unsigned short __half_as_ushort(__half x) { return x.__x; }
SIMT_BOTH short __half_as_short(__half x) { return (short)x.__x; }
SIMT_BOTH __half __ushort_as_half(unsigned short x) { return simt_half_of_bits(x); }
SIMT_BOTH __half __short_as_half(short x) { return simt_half_of_bits((unsigned short)x); }

#define SIMT_HALF_BINARY(name, symbol)                                                             \
    SIMT_BOTH __half name(__half a, __half b) { return __half((float)a symbol (float)b); }         \
    SIMT_BOTH __half name##_rn(__half a, __half b) { return name(a, b); }                          \
    SIMT_BOTH __half operator symbol(__half a, __half b) { return name(a, b); }                    \
    SIMT_BOTH __half &operator symbol##=(__half &a, __half b) { return a = name(a, b); }           \
    SIMT_BOTH __half2 operator symbol(__half2 a, __half2 b) {                                      \
        return __half2(name(a.x, b.x), name(a.y, b.y));                                            \
    }                                                                                              \
    SIMT_BOTH __half2 &operator symbol##=(__half2 &a, __half2 b) { return a = a symbol b; }
SIMT_HALF_BINARY(__hadd, +)
SIMT_HALF_BINARY(__hsub, -)
SIMT_HALF_BINARY(__hmul, *)
SIMT_HALF_BINARY(__hdiv, /)
#undef SIMT_HALF_BINARY
SIMT_BOTH __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
SIMT_BOTH __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
SIMT_BOTH __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
SIMT_BOTH __half2 __h2div(__half2 a, __half2 b) { return a / b; }
SIMT_BOTH __half __hfma(__half a, __half b, __half c) {
    return __half(simt_rounded_to_odd_fma((float)a, (float)b, (float)c));
}
SIMT_BOTH __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
SIMT_BOTH __half __hneg(__half a) { return simt_half_of_bits((unsigned short)(a.__x ^ 0x8000)); }
SIMT_BOTH __half __habs(__half a) { return simt_half_of_bits((unsigned short)(a.__x & 0x7fff)); }
SIMT_BOTH __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
SIMT_BOTH __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
SIMT_BOTH __half operator-(__half a) { return __hneg(a); }
SIMT_BOTH __half operator+(__half a) { return a; }
SIMT_BOTH __half2 operator-(__half2 a) { return __hneg2(a); }

#define SIMT_HALF_COMPARE(name, symbol)                                                            \
    SIMT_BOTH bool name(__half a, __half b) { return (float)a symbol (float)b; }                   \
    SIMT_BOTH bool operator symbol(__half a, __half b) { return (float)a symbol (float)b; }        \
    SIMT_BOTH __half2 name##2(__half2 a, __half2 b) {                                              \
        return __half2(__half((int)name(a.x, b.x)), __half((int)name(a.y, b.y)));                  \
    }                                                                                              \
    SIMT_BOTH bool name##_both(__half2 a, __half2 b) { return name(a.x, b.x) && name(a.y, b.y); }
SIMT_HALF_COMPARE(__heq, ==)
SIMT_HALF_COMPARE(__hne, !=)
SIMT_HALF_COMPARE(__hlt, <)
SIMT_HALF_COMPARE(__hle, <=)
SIMT_HALF_COMPARE(__hgt, >)
SIMT_HALF_COMPARE(__hge, >=)
#undef SIMT_HALF_COMPARE
SIMT_BOTH bool __hbeq2(__half2 a, __half2 b) { return __heq_both(a, b); }
SIMT_BOTH bool __hbne2(__half2 a, __half2 b) { return __hne_both(a, b); }
SIMT_BOTH bool __hblt2(__half2 a, __half2 b) { return __hlt_both(a, b); }
SIMT_BOTH bool __hble2(__half2 a, __half2 b) { return __hle_both(a, b); }
SIMT_BOTH bool __hbgt2(__half2 a, __half2 b) { return __hgt_both(a, b); }
SIMT_BOTH bool __hbge2(__half2 a, __half2 b) { return __hge_both(a, b); }
SIMT_BOTH bool __hisnan(__half a) { return (a.__x & 0x7fff) > 0x7c00; }
SIMT_BOTH int __hisinf(__half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }
SIMT_BOTH __half __hmin(__half a, __half b) { return __half(__builtin_fminf(a, b)); }
SIMT_BOTH __half __hmax(__half a, __half b) { return __half(__builtin_fmaxf(a, b)); }
SIMT_BOTH __half2 __hmin2(__half2 a, __half2 b) {
    return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
SIMT_BOTH __half2 __hmax2(__half2 a, __half2 b) {
    return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y));
}

#define SIMT_HALF_MATH(name, builtin)                                                              \
    SIMT_BOTH __half h##name(__half a) { return __half(builtin((float)a)); }                       \
    SIMT_BOTH __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
SIMT_HALF_MATH(sqrt, __builtin_sqrtf)
SIMT_HALF_MATH(floor, __builtin_floorf)
SIMT_HALF_MATH(ceil, __builtin_ceilf)
SIMT_HALF_MATH(trunc, __builtin_truncf)
SIMT_HALF_MATH(rint, __builtin_rintf)
SIMT_HALF_MATH(exp, __builtin_expf)
SIMT_HALF_MATH(exp2, __builtin_exp2f)
SIMT_HALF_MATH(log, __builtin_logf)
SIMT_HALF_MATH(log2, __builtin_log2f)
SIMT_HALF_MATH(log10, __builtin_log10f)
SIMT_HALF_MATH(sin, __builtin_sinf)
SIMT_HALF_MATH(cos, __builtin_cosf)
#undef SIMT_HALF_MATH
SIMT_BOTH __half hrcp(__half a) { return __half(1.0f / (float)a); }
SIMT_BOTH __half hrsqrt(__half a) { return __half(1.0 / __builtin_sqrt((double)(float)a)); }

SIMT_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
SIMT_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
SIMT_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
SIMT_BOTH __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
SIMT_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
SIMT_BOTH __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
SIMT_BOTH float2 __half22float2(__half2 v) { return float2{v.x, v.y}; }
SIMT_BOTH float __low2float(__half2 v) { return v.x; }
SIMT_BOTH float __high2float(__half2 v) { return v.y; }
SIMT_BOTH __half __low2half(__half2 v) { return v.x; }
SIMT_BOTH __half __high2half(__half2 v) { return v.y; }
SIMT_BOTH __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
SIMT_BOTH __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
SIMT_BOTH __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

#define SIMT_HALF_BITS(v) (simt_u64)simt_cast<unsigned short>(v)
#define SIMT_HALF_BACK(v) simt_half_of_bits((unsigned short)(v))
#define SIMT_HALF2_BITS(v) (simt_u64)simt_cast<unsigned>(v)
#define SIMT_HALF2_BACK(v) simt_cast<__half2>((unsigned)(v))
SIMT_SHUFFLE(__half, SIMT_HALF_BITS, SIMT_HALF_BACK)
SIMT_SHUFFLE(__half2, SIMT_HALF2_BITS, SIMT_HALF2_BACK)

SIMT_FN __half atomicAdd(__half *at, __half value) {
    unsigned short *bits = (unsigned short *)at, old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(bits, &old, (simt_half_of_bits(old) + value).__x, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return simt_half_of_bits(old);
}
SIMT_FN __half2 atomicAdd(__half2 *at, __half2 value) {
    return __half2(atomicAdd(&at->x, value.x), atomicAdd(&at->y, value.y));
}
