// Barriers and fences.
#pragma once

__AMDGPU_INLINE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__AMDGPU_INLINE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__AMDGPU_INLINE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

static inline __device__ __attribute__((always_inline, convergent)) void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static inline __device__ __attribute__((convergent)) int __syncthreads_count(int predicate) {
  __shared__ int total;
  bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
  if (first) total = 0;
  __syncthreads();
  if (predicate)
    __hip_atomic_fetch_add(&total, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  int found = total;
  __syncthreads();
  return found;
}
static inline __device__ __attribute__((convergent)) int __syncthreads_or(int predicate) {
  return __syncthreads_count(predicate) != 0;
}
static inline __device__ __attribute__((convergent)) int __syncthreads_and(int predicate) {
  return __syncthreads_count(!predicate) == 0;
}

__AMDGPU_INLINE long long clock64() { return (long long)__builtin_readcyclecounter(); }
__AMDGPU_INLINE long long clock() { return clock64(); }
__AMDGPU_INLINE long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }
__AMDGPU_INLINE void __trap() { __builtin_trap(); }

template <typename T> __AMDGPU_INLINE T __ldg(const T* p) { return *p; }
