// Mathematical functions that the compiler makes by itself on AMDGPU.
#pragma once

#define __AMDGPU_UNARY(name)                                                                      \
  __AMDGPU_INLINE float name##f(float x) { return __builtin_##name##f(x); }                       \
  __AMDGPU_INLINE double name(double x) { return __builtin_##name(x); }                           \
  __AMDGPU_INLINE float name(float x) { return __builtin_##name##f(x); }
#define __AMDGPU_BINARY(name)                                                                     \
  __AMDGPU_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }           \
  __AMDGPU_INLINE double name(double x, double y) { return __builtin_##name(x, y); }              \
  __AMDGPU_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }
__AMDGPU_UNARY(fabs)
__AMDGPU_UNARY(sqrt)
__AMDGPU_UNARY(floor)
__AMDGPU_UNARY(ceil)
__AMDGPU_UNARY(trunc)
__AMDGPU_UNARY(round)
__AMDGPU_UNARY(rint)
__AMDGPU_UNARY(nearbyint)
__AMDGPU_BINARY(copysign)
__AMDGPU_BINARY(fmin)
__AMDGPU_BINARY(fmax)
__AMDGPU_BINARY(fmod)
#undef __AMDGPU_UNARY
#undef __AMDGPU_BINARY

// float only: double needs ocml.
#define __AMDGPU_FLOAT_UNARY(name)                                                                \
  __AMDGPU_INLINE float name##f(float x) { return __builtin_##name##f(x); }                       \
  __AMDGPU_INLINE float name(float x) { return __builtin_##name##f(x); }
__AMDGPU_FLOAT_UNARY(exp)
__AMDGPU_FLOAT_UNARY(exp2)
__AMDGPU_FLOAT_UNARY(log)
__AMDGPU_FLOAT_UNARY(log2)
__AMDGPU_FLOAT_UNARY(log10)
#undef __AMDGPU_FLOAT_UNARY
__AMDGPU_INLINE float exp10f(float x) { return __builtin_exp10f(x); }

__AMDGPU_INLINE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__AMDGPU_INLINE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__AMDGPU_INLINE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__AMDGPU_INLINE float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
__AMDGPU_INLINE double fdim(double x, double y) { return x > y ? x - y : 0.0; }
__AMDGPU_INLINE float ldexpf(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
__AMDGPU_INLINE double ldexp(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
__AMDGPU_INLINE float ldexp(float x, int n) { return ldexpf(x, n); }
__AMDGPU_INLINE float scalbnf(float x, int n) { return ldexpf(x, n); }
__AMDGPU_INLINE double scalbn(double x, int n) { return ldexp(x, n); }
__AMDGPU_INLINE float frexpf(float x, int* n) {
  *n = __builtin_amdgcn_frexp_expf(x);
  return __builtin_amdgcn_frexp_mantf(x);
}
__AMDGPU_INLINE double frexp(double x, int* n) {
  *n = __builtin_amdgcn_frexp_exp(x);
  return __builtin_amdgcn_frexp_mant(x);
}
__AMDGPU_INLINE float frexp(float x, int* n) { return frexpf(x, n); }
__AMDGPU_INLINE int ilogbf(float x) { return __builtin_amdgcn_frexp_expf(x) - 1; }
__AMDGPU_INLINE int ilogb(double x) { return __builtin_amdgcn_frexp_exp(x) - 1; }
__AMDGPU_INLINE float logbf(float x) { return (float)ilogbf(x); }
__AMDGPU_INLINE double logb(double x) { return (double)ilogb(x); }
__AMDGPU_INLINE float modff(float x, float* whole) { return x - (*whole = __builtin_truncf(x)); }
__AMDGPU_INLINE double modf(double x, double* whole) { return x - (*whole = __builtin_trunc(x)); }
__AMDGPU_INLINE float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
__AMDGPU_INLINE float rsqrt(float x) { return rsqrtf(x); }
__AMDGPU_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#define __AMDGPU_ROUNDED(name, type)                                                              \
  __AMDGPU_INLINE type l##name##f(float x) { return (type)__builtin_##name##f(x); }               \
  __AMDGPU_INLINE type l##name(float x) { return (type)__builtin_##name##f(x); }                  \
  __AMDGPU_INLINE type l##name(double x) { return (type)__builtin_##name(x); }                    \
  __AMDGPU_INLINE long long ll##name##f(float x) { return (long long)__builtin_##name##f(x); }    \
  __AMDGPU_INLINE long long ll##name(float x) { return (long long)__builtin_##name##f(x); }       \
  __AMDGPU_INLINE long long ll##name(double x) { return (long long)__builtin_##name(x); }
__AMDGPU_ROUNDED(rint, long)
__AMDGPU_ROUNDED(round, long)
#undef __AMDGPU_ROUNDED

// A library's own macros of these names would come later; functions are undefined by them.
__AMDGPU_INLINE bool isnan(float x) { return __builtin_isnan(x); }
__AMDGPU_INLINE bool isnan(double x) { return __builtin_isnan(x); }
__AMDGPU_INLINE bool isinf(float x) { return __builtin_isinf(x); }
__AMDGPU_INLINE bool isinf(double x) { return __builtin_isinf(x); }
__AMDGPU_INLINE bool isfinite(float x) { return __builtin_isfinite(x); }
__AMDGPU_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
__AMDGPU_INLINE bool signbit(float x) { return __builtin_signbitf(x); }
__AMDGPU_INLINE bool signbit(double x) { return __builtin_signbit(x); }

// HIP's own are plain operators: they are contracted like any other (-ffp-contract=off stops it).
#define __AMDGPU_NEAREST(name, type, f)                                                           \
  __AMDGPU_INLINE type __##name##add_rn(type x, type y) { return x + y; }                         \
  __AMDGPU_INLINE type __##name##sub_rn(type x, type y) { return x - y; }                         \
  __AMDGPU_INLINE type __##name##mul_rn(type x, type y) { return x * y; }                         \
  __AMDGPU_INLINE type __##name##div_rn(type x, type y) { return x / y; }                         \
  __AMDGPU_INLINE type __##name##sqrt_rn(type x) { return __builtin_sqrt##f(x); }                 \
  __AMDGPU_INLINE type __##name##rcp_rn(type x) { return 1 / x; }
__AMDGPU_NEAREST(f, float, f)
__AMDGPU_NEAREST(d, double, )
#undef __AMDGPU_NEAREST
__AMDGPU_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__AMDGPU_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
__AMDGPU_INLINE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }

__AMDGPU_INLINE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
__AMDGPU_INLINE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
__AMDGPU_INLINE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
__AMDGPU_INLINE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
__AMDGPU_INLINE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029996f; }
__AMDGPU_INLINE float __powf(float x, float y) {
  return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x));
}
// The instructions count in turns.
__AMDGPU_INLINE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
__AMDGPU_INLINE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
__AMDGPU_INLINE float __tanf(float x) { return __sinf(x) / __cosf(x); }
__AMDGPU_INLINE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
__AMDGPU_INLINE float __fdividef(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
__AMDGPU_INLINE float fdividef(float x, float y) { return __fdividef(x, y); }
__AMDGPU_INLINE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0), 1); }
