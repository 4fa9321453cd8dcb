// Bit patterns, and conversions with a rounding of their own.
#pragma once

template <typename To, typename From> __AMDGPU_INLINE To __hip_bits(From v) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  __builtin_memcpy(&result, &v, sizeof(To));
  return result;
}
__AMDGPU_INLINE int __float_as_int(float v) { return __hip_bits<int>(v); }
__AMDGPU_INLINE unsigned __float_as_uint(float v) { return __hip_bits<unsigned>(v); }
__AMDGPU_INLINE float __int_as_float(int v) { return __hip_bits<float>(v); }
__AMDGPU_INLINE float __uint_as_float(unsigned v) { return __hip_bits<float>(v); }
__AMDGPU_INLINE long long __double_as_longlong(double v) { return __hip_bits<long long>(v); }
__AMDGPU_INLINE double __longlong_as_double(long long v) { return __hip_bits<double>(v); }
__AMDGPU_INLINE int __double2hiint(double v) { return (int)(__hip_bits<long long>(v) >> 32); }
__AMDGPU_INLINE int __double2loint(double v) { return (int)__hip_bits<long long>(v); }
__AMDGPU_INLINE double __hiloint2double(int high, int low) {
  return __hip_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

// To an integer, rounded to even, to zero, up, down.
#define __AMDGPU_TO_INTEGER(from, from_name, suffix, to, to_name)                                 \
  __AMDGPU_INLINE to __##from_name##2##to_name##_rn(from v) {                                     \
    return (to)__builtin_rint##suffix(v);                                                         \
  }                                                                                               \
  __AMDGPU_INLINE to __##from_name##2##to_name##_rz(from v) {                                     \
    return (to)__builtin_trunc##suffix(v);                                                        \
  }                                                                                               \
  __AMDGPU_INLINE to __##from_name##2##to_name##_ru(from v) {                                     \
    return (to)__builtin_ceil##suffix(v);                                                         \
  }                                                                                               \
  __AMDGPU_INLINE to __##from_name##2##to_name##_rd(from v) {                                     \
    return (to)__builtin_floor##suffix(v);                                                        \
  }
#define __AMDGPU_TO_INTEGERS(from, suffix)                                                        \
  __AMDGPU_TO_INTEGER(from, from, suffix, int, int)                                               \
  __AMDGPU_TO_INTEGER(from, from, suffix, unsigned, uint)                                         \
  __AMDGPU_TO_INTEGER(from, from, suffix, long long, ll)                                          \
  __AMDGPU_TO_INTEGER(from, from, suffix, unsigned long long, ull)
__AMDGPU_TO_INTEGERS(float, f)
__AMDGPU_TO_INTEGERS(double, )
#undef __AMDGPU_TO_INTEGERS
#undef __AMDGPU_TO_INTEGER

#define __AMDGPU_FROM_INTEGER(from, name)                                                         \
  __AMDGPU_INLINE float __##name##2float_rn(from v) { return (float)v; }                          \
  __AMDGPU_INLINE double __##name##2double_rn(from v) { return (double)v; }
__AMDGPU_FROM_INTEGER(int, int)
__AMDGPU_FROM_INTEGER(unsigned, uint)
__AMDGPU_FROM_INTEGER(long long, ll)
__AMDGPU_FROM_INTEGER(unsigned long long, ull)
#undef __AMDGPU_FROM_INTEGER
__AMDGPU_INLINE float __double2float_rn(double v) { return (float)v; }
