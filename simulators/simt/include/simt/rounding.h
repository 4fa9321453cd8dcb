// Arithmetic with a rounding direction in its name. _rn is the plain operation, since nothing is
// contracted; the others compute the exact result in integers and round it once. The processor's
// own directions are not used: a compiler may move other arithmetic to where they are set.
#pragma once
#include "intrinsics.h"

enum simt_direction { SIMT_TO_NEAREST, SIMT_DOWN, SIMT_UP, SIMT_TO_ZERO };
typedef unsigned __int128 simt_u128;

// A finite number: (negative ? -1 : 1) * (significand + something below 1 if `more`) * 2^exponent.
struct simt_number {
    simt_u128 significand;
    int exponent;
    bool negative, more;
};

SIMT_BOTH int simt_length(simt_u128 x) {
    simt_u64 high = (simt_u64)(x >> 64), low = (simt_u64)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

// The significand has 53 bits, unless it is 0.
SIMT_BOTH simt_number simt_unpacked(double x) {
    simt_u64 bits = simt_cast<simt_u64>(x), fraction = bits & ((1ull << 52) - 1);
    int exponent = (int)(bits >> 52 & 2047);
    if (exponent) {
        fraction |= 1ull << 52;
    } else if (fraction) {
        int by = __builtin_clzll(fraction) - 11;
        fraction <<= by;
        exponent = 1 - by;
    }
    return simt_number{fraction, exponent - 1075, (bool)(bits >> 63), false};
}

template <class T> struct simt_format;
template <> struct simt_format<double> {
    typedef simt_u64 bits;
    enum { digits = 53, least = -1074, most = 1023 };
};
template <> struct simt_format<float> {
    typedef unsigned bits;
    enum { digits = 24, least = -149, most = 127 };
};

// The number as a T, rounded down, up or toward zero.
template <class T> SIMT_BOTH T simt_packed(simt_number x, simt_direction direction) {
    typedef simt_format<T> format;
    typedef typename format::bits bits;
    bits sign = (bits)x.negative << (sizeof(bits) * 8 - 1);
    if (x.significand == 0 && !x.more) return simt_cast<T>(sign);
    bool away = direction == (x.negative ? SIMT_DOWN : SIMT_UP);
    int top = x.exponent + simt_length(x.significand) - 1;
    bits infinity = ((bits)(format::most * 2 + 1)) << (format::digits - 1);
    if (x.significand && top > format::most) return simt_cast<T>(sign | (infinity - !away));
    int unit = top - format::digits + 1;
    if (unit < format::least) unit = format::least;
    int drop = unit - x.exponent;
    simt_u128 kept = drop >= 128 ? 0 : drop >= 0 ? x.significand >> drop : x.significand << -drop;
    bool exact = !x.more && (drop <= 0 || (drop < 128 && kept << drop == x.significand));
    bits result = (bits)kept + ((bits)(unit - format::least) << (format::digits - 1));
    return simt_cast<T>(sign | (result + (!exact && away)));
}

// x * y + z of finite numbers, exact but for `more`.
SIMT_BOTH simt_number simt_exact_fma(double x, double y, double z, simt_direction direction) {
    simt_number a = simt_unpacked(x), b = simt_unpacked(y), c = simt_unpacked(z);
    simt_number p = {a.significand * b.significand, a.exponent + b.exponent,
                     a.negative != b.negative, false};
    if (c.significand == 0 && p.significand) return p;
    if (p.significand == 0 && c.significand) return c;
    if (p.significand == 0) {
        p.negative = p.negative == c.negative ? p.negative : direction == SIMT_DOWN;
        return p;
    }
    // To one exponent, in 126 bits. What is shifted out is so much smaller than the other that
    // they can't cancel.
    simt_number *high = c.exponent > p.exponent ? &c : &p, *low = high == &c ? &p : &c;
    int difference = high->exponent - low->exponent;
    int room = 126 - simt_length(high->significand);
    int left = difference < room ? difference : room, right = difference - left;
    high->significand <<= left, high->exponent -= left;
    simt_u128 shifted = right >= 128 ? 0 : low->significand >> right;
    bool more = right > 0 && (right >= 128 || shifted << right != low->significand);
    if (high->negative == low->negative) {
        return simt_number{high->significand + shifted, high->exponent, high->negative, more};
    }
    if (more) {
        return simt_number{high->significand - shifted - 1, high->exponent, high->negative, true};
    }
    if (high->significand == shifted) return simt_number{0, 0, direction == SIMT_DOWN, false};
    bool less = high->significand < shifted;
    simt_u128 rest = less ? shifted - high->significand : high->significand - shifted;
    return simt_number{rest, high->exponent, less ? low->negative : high->negative, false};
}

// x / y, y not 0: 64 bits of the quotient by long division.
SIMT_BOTH simt_number simt_exact_quotient(double x, double y) {
    simt_number a = simt_unpacked(x), b = simt_unpacked(y);
    simt_u64 rest = (simt_u64)a.significand, by = (simt_u64)b.significand, quotient = 0;
    for (int bit = 0; bit < 62; bit++) {
        quotient <<= 1;
        if (rest >= by) rest -= by, quotient |= 1;
        rest <<= 1;
    }
    return simt_number{quotient, a.exponent - b.exponent - 61, a.negative != b.negative, rest != 0};
}

// The root of x >= 0: 60 bits of it, bit by bit.
SIMT_BOTH simt_number simt_exact_root(double x) {
    simt_number a = simt_unpacked(x);
    int odd = a.exponent & 1, exponent = (a.exponent - odd) / 2;
    simt_u128 square = a.significand << (odd + 64), root = 0, rest = square;
    for (simt_u128 bit = (simt_u128)1 << 118; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return simt_number{root, exponent - 32, false, rest != 0};
}

template <class T>
SIMT_BOTH T simt_directed_fma(T x, T y, T z, simt_direction direction) {
    if (!__builtin_isfinite(x) || !__builtin_isfinite(y) || !__builtin_isfinite(z)) {
        return (T)(x * y + z);
    }
    return simt_packed<T>(simt_exact_fma(x, y, z, direction), direction);
}
template <class T> SIMT_BOTH T simt_directed_quotient(T x, T y, simt_direction direction) {
    if (!__builtin_isfinite(x) || !__builtin_isfinite(y) || y == 0 || x == 0) return x / y;
    return simt_packed<T>(simt_exact_quotient(x, y), direction);
}
SIMT_BOTH float simt_root(float x) { return __builtin_sqrtf(x); }
SIMT_BOTH double simt_root(double x) { return __builtin_sqrt(x); }
template <class T> SIMT_BOTH T simt_directed_root(T x, simt_direction direction) {
    if (!(x > 0) || !__builtin_isfinite(x)) return simt_root(x);
    return simt_packed<T>(simt_exact_root(x), direction);
}

#define SIMT_ARITHMETIC(type, f, fused, suffix, direction)                                         \
    SIMT_BOTH type f##add_##suffix(type x, type y) {                                               \
        return simt_directed_fma<type>(x, 1, y, direction);                                        \
    }                                                                                              \
    SIMT_BOTH type f##sub_##suffix(type x, type y) {                                               \
        return simt_directed_fma<type>(x, 1, -y, direction);                                       \
    }                                                                                              \
    SIMT_BOTH type f##mul_##suffix(type x, type y) {                                               \
        bool negative = __builtin_signbit(x) != __builtin_signbit(y);                              \
        return simt_directed_fma<type>(x, y, negative ? -(type)0 : (type)0, direction);            \
    }                                                                                              \
    SIMT_BOTH type f##div_##suffix(type x, type y) {                                               \
        return simt_directed_quotient<type>(x, y, direction);                                      \
    }                                                                                              \
    SIMT_BOTH type f##rcp_##suffix(type x) {                                                       \
        return simt_directed_quotient<type>(1, x, direction);                                      \
    }                                                                                              \
    SIMT_BOTH type f##sqrt_##suffix(type x) { return simt_directed_root<type>(x, direction); }     \
    SIMT_BOTH type fused##_##suffix(type x, type y, type z) {                                      \
        return simt_directed_fma<type>(x, y, z, direction);                                        \
    }
SIMT_ARITHMETIC(float, __f, __fmaf, rz, SIMT_TO_ZERO)
SIMT_ARITHMETIC(float, __f, __fmaf, ru, SIMT_UP)
SIMT_ARITHMETIC(float, __f, __fmaf, rd, SIMT_DOWN)
SIMT_ARITHMETIC(double, __d, __fma, rz, SIMT_TO_ZERO)
SIMT_ARITHMETIC(double, __d, __fma, ru, SIMT_UP)
SIMT_ARITHMETIC(double, __d, __fma, rd, SIMT_DOWN)
#undef SIMT_ARITHMETIC

#define SIMT_NEAREST(type, f, fused, builtin, root)                                                \
    SIMT_BOTH type f##add_rn(type x, type y) { return x + y; }                                     \
    SIMT_BOTH type f##sub_rn(type x, type y) { return x - y; }                                     \
    SIMT_BOTH type f##mul_rn(type x, type y) { return x * y; }                                     \
    SIMT_BOTH type f##div_rn(type x, type y) { return x / y; }                                     \
    SIMT_BOTH type f##rcp_rn(type x) { return 1 / x; }                                             \
    SIMT_BOTH type f##sqrt_rn(type x) { return root(x); }                                          \
    SIMT_BOTH type fused##_rn(type x, type y, type z) { return builtin(x, y, z); }
SIMT_NEAREST(float, __f, __fmaf, __builtin_fmaf, __builtin_sqrtf)
SIMT_NEAREST(double, __d, __fma, __builtin_fma, __builtin_sqrt)
#undef SIMT_NEAREST

// Conversions.
SIMT_BOTH simt_number simt_whole(long long x) {
    return simt_number{x < 0 ? -(simt_u64)x : (simt_u64)x, 0, x < 0, false};
}
SIMT_BOTH simt_number simt_whole(unsigned long long x) { return simt_number{x, 0, false, false}; }
#define SIMT_FROM_INTEGER(name, to, from, wide)                                                    \
    SIMT_BOTH to name##_rn(from x) { return (to)x; }                                               \
    SIMT_BOTH to name##_rz(from x) { return simt_packed<to>(simt_whole((wide)x), SIMT_TO_ZERO); }  \
    SIMT_BOTH to name##_ru(from x) { return simt_packed<to>(simt_whole((wide)x), SIMT_UP); }       \
    SIMT_BOTH to name##_rd(from x) { return simt_packed<to>(simt_whole((wide)x), SIMT_DOWN); }
SIMT_FROM_INTEGER(__int2float, float, int, long long)
SIMT_FROM_INTEGER(__uint2float, float, unsigned, unsigned long long)
SIMT_FROM_INTEGER(__ll2float, float, long long, long long)
SIMT_FROM_INTEGER(__ull2float, float, unsigned long long, unsigned long long)
SIMT_FROM_INTEGER(__ll2double, double, long long, long long)
SIMT_FROM_INTEGER(__ull2double, double, unsigned long long, unsigned long long)
#undef SIMT_FROM_INTEGER

SIMT_BOTH float simt_to_float(double x, simt_direction direction) {
    if (!__builtin_isfinite(x)) return (float)x;
    return simt_packed<float>(simt_unpacked(x), direction);
}
SIMT_BOTH float __double2float_rn(double x) { return (float)x; }
SIMT_BOTH float __double2float_rz(double x) { return simt_to_float(x, SIMT_TO_ZERO); }
SIMT_BOTH float __double2float_ru(double x) { return simt_to_float(x, SIMT_UP); }
SIMT_BOTH float __double2float_rd(double x) { return simt_to_float(x, SIMT_DOWN); }
