// __hip_bfloat16: the upper half of a float, rounded to nearest even.
#pragma once
#include "hip_runtime.h"

struct __hip_bfloat16 {
  unsigned short data;
  __hip_bfloat16() = default;
  __host__ __device__ __hip_bfloat16(float v) {
    unsigned bits;
    __builtin_memcpy(&bits, &v, 4);
    unsigned rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    data = (unsigned short)(v != v ? bits >> 16 | 0x40 : rounded);
  }
  __host__ __device__ operator float() const {
    unsigned bits = (unsigned)data << 16;
    float v;
    __builtin_memcpy(&v, &bits, 4);
    return v;
  }
};
struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};
typedef __hip_bfloat16 hip_bfloat16;

__AMDGPU_BOTH __hip_bfloat16 __float2bfloat16(float v) { return __hip_bfloat16(v); }
__AMDGPU_BOTH __hip_bfloat16 __float2bfloat16_rn(float v) { return __hip_bfloat16(v); }
__AMDGPU_BOTH __hip_bfloat16 __double2bfloat16(double v) { return __hip_bfloat16((float)v); }
__AMDGPU_BOTH float __bfloat162float(__hip_bfloat16 v) { return (float)v; }
__AMDGPU_BOTH __hip_bfloat162 __floats2bfloat162_rn(float low, float high) {
  return {__hip_bfloat16(low), __hip_bfloat16(high)};
}
__AMDGPU_BOTH float2 __bfloat1622float2(__hip_bfloat162 v) { return {(float)v.x, (float)v.y}; }
__AMDGPU_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 v) { return v.data; }
__AMDGPU_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short v) {
  __hip_bfloat16 result;
  result.data = v;
  return result;
}
__AMDGPU_INLINE __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hip_bfloat16((float)a + (float)b);
}
__AMDGPU_INLINE __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hip_bfloat16((float)a - (float)b);
}
__AMDGPU_INLINE __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hip_bfloat16((float)a * (float)b);
}
__AMDGPU_INLINE __hip_bfloat16 __hdiv(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hip_bfloat16((float)a / (float)b);
}
