// Integer intrinsics.
#pragma once

__AMDGPU_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
__AMDGPU_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__AMDGPU_INLINE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
__AMDGPU_INLINE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
__AMDGPU_INLINE int __ffs(int v) { return __builtin_ffs(v); }
__AMDGPU_INLINE int __ffs(unsigned v) { return __builtin_ffs((int)v); }
__AMDGPU_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
__AMDGPU_INLINE int __ffsll(unsigned long long v) { return __builtin_ffsll((long long)v); }
__AMDGPU_INLINE int __ffsll(unsigned long v) { return __builtin_ffsll((long long)v); }
__AMDGPU_INLINE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
__AMDGPU_INLINE unsigned long long __brevll(unsigned long long v) {
  return __builtin_bitreverse64(v);
}
__AMDGPU_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  unsigned long long both = (unsigned long long)high << 32 | low;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    result |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}
__AMDGPU_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
__AMDGPU_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
__AMDGPU_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (shift < 32 ? shift : 32)) >> 32);
}
__AMDGPU_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift < 32 ? shift : 32));
}
__AMDGPU_INLINE unsigned __bitextract_u32(unsigned v, unsigned start, unsigned count) {
  return __builtin_amdgcn_ubfe(v, start, count);
}

__AMDGPU_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__AMDGPU_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
__AMDGPU_INLINE long long __mul64hi(long long a, long long b) {
  return (long long)((__int128)a * b >> 64);
}
__AMDGPU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
__AMDGPU_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__AMDGPU_INLINE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
__AMDGPU_INLINE unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
__AMDGPU_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a > b ? a - b : b - a);
}
__AMDGPU_INLINE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
__AMDGPU_INLINE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
__AMDGPU_INLINE unsigned __uhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b) >> 1);
}
__AMDGPU_INLINE unsigned __urhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

#define __AMDGPU_MIN_MAX(type, a_type, b_type)                                                    \
  __AMDGPU_INLINE constexpr type min(a_type a, b_type b) {                                        \
    return (type)b < (type)a ? (type)b : (type)a;                                                 \
  }                                                                                               \
  __AMDGPU_INLINE constexpr type max(a_type a, b_type b) {                                        \
    return (type)a < (type)b ? (type)b : (type)a;                                                 \
  }
#define __AMDGPU_MIN_MAX_MIXED(signed_type, unsigned_type)                                        \
  __AMDGPU_MIN_MAX(signed_type, signed_type, signed_type)                                         \
  __AMDGPU_MIN_MAX(unsigned_type, unsigned_type, unsigned_type)                                   \
  __AMDGPU_MIN_MAX(unsigned_type, signed_type, unsigned_type)                                     \
  __AMDGPU_MIN_MAX(unsigned_type, unsigned_type, signed_type)
__AMDGPU_MIN_MAX_MIXED(int, unsigned)
__AMDGPU_MIN_MAX_MIXED(long, unsigned long)
__AMDGPU_MIN_MAX_MIXED(long long, unsigned long long)
#undef __AMDGPU_MIN_MAX_MIXED
#undef __AMDGPU_MIN_MAX
#define __AMDGPU_MIN_MAX_FLOAT(type, a_type, b_type, suffix)                                      \
  __AMDGPU_INLINE type min(a_type a, b_type b) { return __builtin_fmin##suffix(a, b); }           \
  __AMDGPU_INLINE type max(a_type a, b_type b) { return __builtin_fmax##suffix(a, b); }
__AMDGPU_MIN_MAX_FLOAT(float, float, float, f)
__AMDGPU_MIN_MAX_FLOAT(double, double, double, )
__AMDGPU_MIN_MAX_FLOAT(double, float, double, )
__AMDGPU_MIN_MAX_FLOAT(double, double, float, )
#undef __AMDGPU_MIN_MAX_FLOAT

__AMDGPU_INLINE int abs(int v) { return v < 0 ? -v : v; }
__AMDGPU_INLINE long abs(long v) { return v < 0 ? -v : v; }
__AMDGPU_INLINE long long abs(long long v) { return v < 0 ? -v : v; }
__AMDGPU_INLINE long labs(long v) { return abs(v); }
__AMDGPU_INLINE long long llabs(long long v) { return abs(v); }
__AMDGPU_INLINE float abs(float v) { return __builtin_fabsf(v); }
__AMDGPU_INLINE double abs(double v) { return __builtin_fabs(v); }
