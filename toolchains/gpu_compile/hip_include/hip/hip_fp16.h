// __half and __half2 over the compiler's _Float16.
#pragma once
#include "hip_runtime.h"

struct __half {
  _Float16 data;
  __half() = default;
  constexpr __host__ __device__ __half(_Float16 v) : data(v) {}
  constexpr __host__ __device__ __half(float v) : data((_Float16)v) {}
  constexpr __host__ __device__ __half(double v) : data((_Float16)v) {}
  constexpr __host__ __device__ __half(int v) : data((_Float16)v) {}
  constexpr __host__ __device__ __half(unsigned v) : data((_Float16)v) {}
  constexpr __host__ __device__ operator float() const { return (float)data; }
};
typedef __half half;
struct __half_raw {
  unsigned short x;
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __host__ __device__ __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define __AMDGPU_HALF_OPERATOR(op)                                                                \
  static constexpr __host__ __device__ __half operator op(__half a, __half b) {                   \
    return __half((_Float16)(a.data op b.data));                                                  \
  }                                                                                               \
  static constexpr __host__ __device__ __half2 operator op(__half2 a, __half2 b) {                \
    return {a.x op b.x, a.y op b.y};                                                              \
  }                                                                                               \
  static constexpr __host__ __device__ __half& operator op##=(__half& a, __half b) {              \
    return a = a op b;                                                                            \
  }
__AMDGPU_HALF_OPERATOR(+)
__AMDGPU_HALF_OPERATOR(-)
__AMDGPU_HALF_OPERATOR(*)
__AMDGPU_HALF_OPERATOR(/)
#undef __AMDGPU_HALF_OPERATOR
#define __AMDGPU_HALF_COMPARE(op, name)                                                           \
  static constexpr __host__ __device__ bool operator op(__half a, __half b) {                     \
    return a.data op b.data;                                                                      \
  }                                                                                               \
  __AMDGPU_INLINE bool __h##name(__half a, __half b) { return a.data op b.data; }
__AMDGPU_HALF_COMPARE(==, eq)
__AMDGPU_HALF_COMPARE(!=, ne)
__AMDGPU_HALF_COMPARE(<, lt)
__AMDGPU_HALF_COMPARE(<=, le)
__AMDGPU_HALF_COMPARE(>, gt)
__AMDGPU_HALF_COMPARE(>=, ge)
#undef __AMDGPU_HALF_COMPARE
static constexpr __host__ __device__ __half operator-(__half a) { return __half(-a.data); }

__AMDGPU_BOTH __half __float2half(float v) { return __half(v); }
__AMDGPU_BOTH __half __float2half_rn(float v) { return __half(v); }
__AMDGPU_BOTH __half __double2half(double v) { return __half(v); }
__AMDGPU_BOTH float __half2float(__half v) { return (float)v.data; }
__AMDGPU_BOTH __half2 __halves2half2(__half low, __half high) { return {low, high}; }
__AMDGPU_BOTH __half2 make_half2(__half low, __half high) { return {low, high}; }
__AMDGPU_BOTH __half2 __half2half2(__half v) { return {v, v}; }
__AMDGPU_BOTH __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
__AMDGPU_BOTH __half2 __floats2half2_rn(float low, float high) {
  return {__half(low), __half(high)};
}
__AMDGPU_BOTH __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
__AMDGPU_BOTH float2 __half22float2(__half2 v) { return {(float)v.x, (float)v.y}; }
__AMDGPU_BOTH float __low2float(__half2 v) { return (float)v.x; }
__AMDGPU_BOTH float __high2float(__half2 v) { return (float)v.y; }
__AMDGPU_BOTH __half __low2half(__half2 v) { return v.x; }
__AMDGPU_BOTH __half __high2half(__half2 v) { return v.y; }

__AMDGPU_INLINE unsigned short __half_as_ushort(__half v) {
  return __hip_bits<unsigned short>(v.data);
}
__AMDGPU_INLINE short __half_as_short(__half v) { return __hip_bits<short>(v.data); }
__AMDGPU_INLINE __half __ushort_as_half(unsigned short v) {
  return __half(__hip_bits<_Float16>(v));
}
__AMDGPU_INLINE __half __short_as_half(short v) { return __half(__hip_bits<_Float16>(v)); }
__AMDGPU_INLINE int __half2int_rn(__half v) { return (int)__builtin_rintf((float)v.data); }
__AMDGPU_INLINE int __half2int_rz(__half v) { return (int)v.data; }
__AMDGPU_INLINE unsigned __half2uint_rn(__half v) {
  return (unsigned)__builtin_rintf((float)v.data);
}
__AMDGPU_INLINE __half __int2half_rn(int v) { return __half(v); }
__AMDGPU_INLINE __half __uint2half_rn(unsigned v) { return __half(v); }
__AMDGPU_INLINE __half __short2half_rn(short v) { return __half((int)v); }

#define __AMDGPU_HALF_BINARY(name, op)                                                            \
  __AMDGPU_INLINE __half __h##name(__half a, __half b) { return a op b; }                         \
  __AMDGPU_INLINE __half2 __h##name##2(__half2 a, __half2 b) { return a op b; }
__AMDGPU_HALF_BINARY(add, +)
__AMDGPU_HALF_BINARY(sub, -)
__AMDGPU_HALF_BINARY(mul, *)
__AMDGPU_INLINE __half __hdiv(__half a, __half b) { return a / b; }
__AMDGPU_INLINE __half2 __h2div(__half2 a, __half2 b) { return a / b; }
#undef __AMDGPU_HALF_BINARY
__AMDGPU_INLINE __half __hfma(__half a, __half b, __half c) {
  return __half(__builtin_fmaf16(a.data, b.data, c.data));
}
__AMDGPU_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
__AMDGPU_INLINE __half __hneg(__half a) { return -a; }
__AMDGPU_INLINE __half __habs(__half a) { return __half(__builtin_fabsf16(a.data)); }
__AMDGPU_INLINE __half __hmax(__half a, __half b) { return a < b ? b : a; }
__AMDGPU_INLINE __half __hmin(__half a, __half b) { return b < a ? b : a; }
__AMDGPU_INLINE bool __hisnan(__half a) { return a.data != a.data; }
__AMDGPU_INLINE int __hisinf(__half a) { return __builtin_isinf(a.data); }
__AMDGPU_INLINE __half hsqrt(__half a) { return __half(__builtin_sqrtf16(a.data)); }
__AMDGPU_INLINE __half hrint(__half a) { return __half(__builtin_rintf16(a.data)); }
__AMDGPU_INLINE __half hfloor(__half a) { return __half(__builtin_floorf16(a.data)); }
__AMDGPU_INLINE __half hceil(__half a) { return __half(__builtin_ceilf16(a.data)); }
__AMDGPU_INLINE __half htrunc(__half a) { return __half(__builtin_truncf16(a.data)); }
__AMDGPU_INLINE __half hexp(__half a) { return __half(__builtin_expf((float)a.data)); }
__AMDGPU_INLINE __half hlog(__half a) { return __half(__builtin_logf((float)a.data)); }
__AMDGPU_INLINE __half hexp2(__half a) { return __half(__builtin_exp2f((float)a.data)); }
__AMDGPU_INLINE __half hlog2(__half a) { return __half(__builtin_log2f((float)a.data)); }
