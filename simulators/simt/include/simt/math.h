// Mathematical functions: those of the C library, in float and double. Nothing is contracted and
// nothing flushed to zero; transcendental functions are the host's, more exact than a GPU's.
#pragma once
#include "atomics.h"

#define SIMT_MATH1(name)                                                                           \
    SIMT_MATH float name##f(float x) { return __builtin_##name##f(x); }                            \
    SIMT_MATH float name(float x) { return __builtin_##name##f(x); }                               \
    SIMT_MATH double name(double x) { return __builtin_##name(x); }                                \
    SIMT_MATH double name(int x) { return __builtin_##name(x); }
#define SIMT_MATH2(name)                                                                           \
    SIMT_MATH float name##f(float x, float y) { return __builtin_##name##f(x, y); }                \
    SIMT_MATH float name(float x, float y) { return __builtin_##name##f(x, y); }                   \
    SIMT_MATH double name(double x, double y) { return __builtin_##name(x, y); }                   \
    SIMT_MATH double name(float x, double y) { return __builtin_##name(x, y); }                    \
    SIMT_MATH double name(double x, float y) { return __builtin_##name(x, y); }                    \
    SIMT_MATH double name(int x, double y) { return __builtin_##name(x, y); }                      \
    SIMT_MATH double name(double x, int y) { return __builtin_##name(x, y); }                      \
    SIMT_MATH double name(int x, float y) { return __builtin_##name(x, y); }                       \
    SIMT_MATH double name(float x, int y) { return __builtin_##name(x, y); }                       \
    SIMT_MATH double name(int x, int y) { return __builtin_##name(x, y); }
SIMT_MATH1(acos) SIMT_MATH1(acosh) SIMT_MATH1(asin) SIMT_MATH1(asinh) SIMT_MATH1(atan)
SIMT_MATH1(atanh) SIMT_MATH1(cbrt) SIMT_MATH1(ceil) SIMT_MATH1(cos) SIMT_MATH1(cosh)
SIMT_MATH1(erf) SIMT_MATH1(erfc) SIMT_MATH1(exp) SIMT_MATH1(exp2) SIMT_MATH1(expm1)
SIMT_MATH1(fabs) SIMT_MATH1(floor) SIMT_MATH1(lgamma) SIMT_MATH1(log) SIMT_MATH1(log10)
SIMT_MATH1(log1p) SIMT_MATH1(log2) SIMT_MATH1(logb) SIMT_MATH1(nearbyint) SIMT_MATH1(rint)
SIMT_MATH1(round) SIMT_MATH1(sin) SIMT_MATH1(sinh) SIMT_MATH1(sqrt) SIMT_MATH1(tan)
SIMT_MATH1(tanh) SIMT_MATH1(tgamma) SIMT_MATH1(trunc)
SIMT_MATH2(atan2) SIMT_MATH2(copysign) SIMT_MATH2(fdim) SIMT_MATH2(fmax) SIMT_MATH2(fmin)
SIMT_MATH2(fmod) SIMT_MATH2(hypot) SIMT_MATH2(nextafter) SIMT_MATH2(pow) SIMT_MATH2(remainder)
#undef SIMT_MATH1
#undef SIMT_MATH2

SIMT_MATH float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMT_MATH float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMT_MATH double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
SIMT_MATH float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
SIMT_MATH float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
SIMT_MATH double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
SIMT_MATH float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
SIMT_MATH float scalbn(float x, int e) { return __builtin_ldexpf(x, e); }
SIMT_MATH double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
SIMT_MATH float frexpf(float x, int *e) { return __builtin_frexpf(x, e); }
SIMT_MATH float frexp(float x, int *e) { return __builtin_frexpf(x, e); }
SIMT_MATH double frexp(double x, int *e) { return __builtin_frexp(x, e); }
SIMT_MATH float modff(float x, float *whole) { return __builtin_modff(x, whole); }
SIMT_MATH float modf(float x, float *whole) { return __builtin_modff(x, whole); }
SIMT_MATH double modf(double x, double *whole) { return __builtin_modf(x, whole); }
SIMT_MATH int ilogbf(float x) { return __builtin_ilogbf(x); }
SIMT_MATH int ilogb(float x) { return __builtin_ilogbf(x); }
SIMT_MATH int ilogb(double x) { return __builtin_ilogb(x); }
SIMT_MATH long lrintf(float x) { return (long)__builtin_rintf(x); }
SIMT_MATH long lrint(float x) { return (long)__builtin_rintf(x); }
SIMT_MATH long lrint(double x) { return (long)__builtin_rint(x); }
SIMT_MATH long long llrintf(float x) { return (long long)__builtin_rintf(x); }
SIMT_MATH long long llrint(float x) { return (long long)__builtin_rintf(x); }
SIMT_MATH long long llrint(double x) { return (long long)__builtin_rint(x); }
SIMT_MATH long lroundf(float x) { return (long)__builtin_roundf(x); }
SIMT_MATH long lround(float x) { return (long)__builtin_roundf(x); }
SIMT_MATH long lround(double x) { return (long)__builtin_round(x); }
SIMT_MATH long long llroundf(float x) { return (long long)__builtin_roundf(x); }
SIMT_MATH long long llround(float x) { return (long long)__builtin_roundf(x); }
SIMT_MATH long long llround(double x) { return (long long)__builtin_round(x); }
SIMT_MATH void sincosf(float x, float *s, float *c) {
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}
SIMT_MATH void sincos(double x, double *s, double *c) {
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}
SIMT_MATH float exp10f(float x) { return __builtin_exp10f(x); }
SIMT_MATH double exp10(double x) { return __builtin_exp10(x); }
SIMT_MATH float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
SIMT_MATH float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
SIMT_MATH double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
SIMT_MATH float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
SIMT_MATH double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
SIMT_MATH float sinpif(float x) { return (float)__builtin_sin(x * 3.14159265358979323846); }
SIMT_MATH float cospif(float x) { return (float)__builtin_cos(x * 3.14159265358979323846); }
SIMT_MATH float norm3df(float x, float y, float z) {
    return (float)__builtin_sqrt((double)x * x + (double)y * y + (double)z * z);
}
SIMT_MATH int abs(int x) { return x < 0 ? -(unsigned)x : x; }
SIMT_MATH long abs(long x) { return x < 0 ? -(unsigned long)x : x; }
SIMT_MATH long long abs(long long x) { return x < 0 ? -(unsigned long long)x : x; }
SIMT_MATH float abs(float x) { return __builtin_fabsf(x); }
SIMT_MATH double abs(double x) { return __builtin_fabs(x); }
SIMT_MATH long labs(long x) { return x < 0 ? -(unsigned long)x : x; }
SIMT_MATH bool isnan(float x) { return __builtin_isnan(x); }
SIMT_MATH bool isnan(double x) { return __builtin_isnan(x); }
SIMT_MATH bool isinf(float x) { return __builtin_isinf(x); }
SIMT_MATH bool isinf(double x) { return __builtin_isinf(x); }
SIMT_MATH bool isfinite(float x) { return __builtin_isfinite(x); }
SIMT_MATH bool isfinite(double x) { return __builtin_isfinite(x); }
SIMT_MATH bool signbit(float x) { return __builtin_signbit(x); }
SIMT_MATH bool signbit(double x) { return __builtin_signbit(x); }
SIMT_MATH long long llabs(long long x) { return x < 0 ? -(unsigned long long)x : x; }

#define SIMT_MIN_MAX(type)                                                                         \
    SIMT_BOTH constexpr type min(type a, type b) { return b < a ? b : a; }                         \
    SIMT_BOTH constexpr type max(type a, type b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX
// CUDA compares a signed with an unsigned number as unsigned.
SIMT_BOTH constexpr unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
SIMT_BOTH constexpr unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
SIMT_BOTH constexpr unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
SIMT_BOTH constexpr unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
SIMT_BOTH constexpr unsigned long long min(long long a, unsigned long long b) {
    return min((unsigned long long)a, b);
}
SIMT_BOTH constexpr unsigned long long min(unsigned long long a, long long b) {
    return min(a, (unsigned long long)b);
}
SIMT_BOTH constexpr unsigned long long max(long long a, unsigned long long b) {
    return max((unsigned long long)a, b);
}
SIMT_BOTH constexpr unsigned long long max(unsigned long long a, long long b) {
    return max(a, (unsigned long long)b);
}
SIMT_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
SIMT_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
SIMT_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
SIMT_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
SIMT_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
SIMT_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
SIMT_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
SIMT_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }
SIMT_BOTH unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMT_BOTH unsigned umax(unsigned a, unsigned b) { return max(a, b); }
SIMT_BOTH long long llmin(long long a, long long b) { return min(a, b); }
SIMT_BOTH long long llmax(long long a, long long b) { return max(a, b); }
