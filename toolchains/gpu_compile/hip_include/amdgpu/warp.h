// Operations of a wavefront. The forms with masks take 64 bits and nothing narrower, as HIP's do.
#pragma once

__AMDGPU_INLINE unsigned long long __ballot(int predicate) {
  return __builtin_amdgcn_ballot_w64(predicate != 0);
}
__AMDGPU_INLINE unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
__AMDGPU_INLINE unsigned long long __activemask() { return __builtin_amdgcn_ballot_w64(true); }
__AMDGPU_INLINE int __any(int predicate) { return __ballot(predicate) != 0; }
__AMDGPU_INLINE int __all(int predicate) { return __ballot(predicate) == __activemask(); }

// 32-bit words of any value through one permutation each.
template <typename T> __AMDGPU_INLINE T __hip_permuted(int lane, T value) {
  constexpr int words = (sizeof(T) + 3) / 4;
  int raw[words] = {};
  __builtin_memcpy(raw, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < words; ++i) raw[i] = __builtin_amdgcn_ds_bpermute(lane << 2, raw[i]);
  __builtin_memcpy(&value, raw, sizeof(T));
  return value;
}

template <typename T> __AMDGPU_INLINE T __shfl(T value, int lane, int width = warpSize) {
  int self = __lane_id();
  return __hip_permuted((lane & (width - 1)) + (self & ~(width - 1)), value);
}
template <typename T> __AMDGPU_INLINE T __shfl_up(T value, unsigned delta, int width = warpSize) {
  int self = __lane_id(), from = self - (int)delta;
  return __hip_permuted(from < (self & ~(width - 1)) ? self : from, value);
}
template <typename T> __AMDGPU_INLINE T __shfl_down(T value, unsigned delta, int width = warpSize) {
  int self = __lane_id(), from = self + (int)delta;
  return __hip_permuted((self & (width - 1)) + (int)delta >= width ? self : from, value);
}
template <typename T> __AMDGPU_INLINE T __shfl_xor(T value, int mask, int width = warpSize) {
  int self = __lane_id(), from = self ^ mask;
  return __hip_permuted(from >= ((self + width) & ~(width - 1)) ? self : from, value);
}

#define __AMDGPU_MASK(type)                                                                       \
  static_assert(sizeof(type) == 8 && type(-1) != 0,                                               \
                "The mask must be a 64-bit integer: a wavefront may have 64 lanes.")

template <typename M, typename T>
__AMDGPU_INLINE T __shfl_sync(M, T value, int lane, int width = warpSize) {
  __AMDGPU_MASK(M);
  return __shfl(value, lane, width);
}
template <typename M, typename T>
__AMDGPU_INLINE T __shfl_up_sync(M, T value, unsigned delta, int width = warpSize) {
  __AMDGPU_MASK(M);
  return __shfl_up(value, delta, width);
}
template <typename M, typename T>
__AMDGPU_INLINE T __shfl_down_sync(M, T value, unsigned delta, int width = warpSize) {
  __AMDGPU_MASK(M);
  return __shfl_down(value, delta, width);
}
template <typename M, typename T>
__AMDGPU_INLINE T __shfl_xor_sync(M, T value, int lanes, int width = warpSize) {
  __AMDGPU_MASK(M);
  return __shfl_xor(value, lanes, width);
}
template <typename M> __AMDGPU_INLINE unsigned long long __ballot_sync(M mask, int predicate) {
  __AMDGPU_MASK(M);
  return __ballot(predicate) & (unsigned long long)mask;
}
template <typename M> __AMDGPU_INLINE int __any_sync(M mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
template <typename M> __AMDGPU_INLINE int __all_sync(M mask, int predicate) {
  return __ballot_sync(mask, predicate) == (unsigned long long)mask;
}
template <typename M> __AMDGPU_INLINE void __syncwarp(M) {
  __AMDGPU_MASK(M);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__AMDGPU_INLINE void __syncwarp() { __syncwarp(~0ull); }

template <typename T> __AMDGPU_INLINE T __hip_first(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match takes 32 or 64 bits");
  int raw[sizeof(T) / 4];
  __builtin_memcpy(raw, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 4; ++i) raw[i] = __builtin_amdgcn_readfirstlane(raw[i]);
  __builtin_memcpy(&value, raw, sizeof(T));
  return value;
}
template <typename T> static inline __device__ unsigned long long __match_any(T value) {
  unsigned long long same = 0;
  for (bool done = false; __any(!done);)
    if (!done) {
      T chosen = __hip_first(value);
      if (chosen == value) {
        same = __activemask();
        done = true;
      }
    }
  return same;
}
template <typename T> static inline __device__ unsigned long long __match_all(T value, int* all) {
  *all = __all(__hip_first(value) == value);
  return *all ? __activemask() : 0;
}
template <typename M, typename T>
static inline __device__ unsigned long long __match_any_sync(M mask, T value) {
  __AMDGPU_MASK(M);
  return __match_any(value) & (unsigned long long)mask;
}
template <typename M, typename T>
static inline __device__ unsigned long long __match_all_sync(M mask, T value, int* all) {
  __AMDGPU_MASK(M);
  return __match_all(value, all) & (unsigned long long)mask;
}

// Lanes of the mask that are named from the lowest up take part; the rest keep nothing.
#define __AMDGPU_REDUCE(name, type, expression)                                                   \
  static inline __device__ type __reduce_##name##_sync(unsigned long long mask, type value) {     \
    type a = __shfl(value, __builtin_ctzll(mask));                                                \
    for (mask &= mask - 1; mask; mask &= mask - 1) {                                              \
      type b = __shfl(value, __builtin_ctzll(mask));                                              \
      a = expression;                                                                             \
    }                                                                                             \
    return a;                                                                                     \
  }
#define __AMDGPU_REDUCES(type)                                                                    \
  __AMDGPU_REDUCE(add, type, a + b)                                                               \
  __AMDGPU_REDUCE(min, type, b < a ? b : a)                                                       \
  __AMDGPU_REDUCE(max, type, a < b ? b : a)
__AMDGPU_REDUCES(int)
__AMDGPU_REDUCES(unsigned)
__AMDGPU_REDUCES(long long)
__AMDGPU_REDUCES(unsigned long long)
__AMDGPU_REDUCES(float)
__AMDGPU_REDUCES(double)
__AMDGPU_REDUCE(and, unsigned, a& b)
__AMDGPU_REDUCE(or, unsigned, a | b)
__AMDGPU_REDUCE(xor, unsigned, a ^ b)
#undef __AMDGPU_REDUCES
#undef __AMDGPU_REDUCE
