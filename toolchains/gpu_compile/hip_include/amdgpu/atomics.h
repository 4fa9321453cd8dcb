// Atomic read-modify-write operations: relaxed, of the device; _block and _system likewise.
#pragma once

#define __AMDGPU_ATOMIC(name, builtin, type)                                                      \
  __AMDGPU_INLINE type name(type* p, type v) {                                                    \
    return builtin(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                             \
  }                                                                                               \
  __AMDGPU_INLINE type name##_block(type* p, type v) {                                            \
    return builtin(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);                         \
  }                                                                                               \
  __AMDGPU_INLINE type name##_system(type* p, type v) {                                           \
    return builtin(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);                            \
  }
#define __AMDGPU_ATOMIC_CAS(type)                                                                 \
  __AMDGPU_INLINE type __hip_cas(type* p, type compare, type v, int) {                            \
    __hip_atomic_compare_exchange_strong(p, &compare, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,      \
                                         __HIP_MEMORY_SCOPE_AGENT);                               \
    return compare;                                                                               \
  }                                                                                               \
  __AMDGPU_INLINE type atomicCAS(type* p, type compare, type v) {                                 \
    return __hip_cas(p, compare, v, 0);                                                           \
  }                                                                                               \
  __AMDGPU_INLINE type atomicCAS_block(type* p, type compare, type v) {                           \
    __hip_atomic_compare_exchange_strong(p, &compare, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,      \
                                         __HIP_MEMORY_SCOPE_WORKGROUP);                           \
    return compare;                                                                               \
  }                                                                                               \
  __AMDGPU_INLINE type atomicCAS_system(type* p, type compare, type v) {                          \
    __hip_atomic_compare_exchange_strong(p, &compare, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,      \
                                         __HIP_MEMORY_SCOPE_SYSTEM);                              \
    return compare;                                                                               \
  }
#define __AMDGPU_ATOMIC_NUMBER(type)                                                              \
  __AMDGPU_ATOMIC(atomicAdd, __hip_atomic_fetch_add, type)                                        \
  __AMDGPU_ATOMIC(atomicSub, __hip_atomic_fetch_sub, type)                                        \
  __AMDGPU_ATOMIC(atomicMin, __hip_atomic_fetch_min, type)                                        \
  __AMDGPU_ATOMIC(atomicMax, __hip_atomic_fetch_max, type)                                        \
  __AMDGPU_ATOMIC(atomicExch, __hip_atomic_exchange, type)                                        \
  __AMDGPU_ATOMIC_CAS(type)
#define __AMDGPU_ATOMIC_INTEGER(type)                                                             \
  __AMDGPU_ATOMIC_NUMBER(type)                                                                    \
  __AMDGPU_ATOMIC(atomicAnd, __hip_atomic_fetch_and, type)                                        \
  __AMDGPU_ATOMIC(atomicOr, __hip_atomic_fetch_or, type)                                          \
  __AMDGPU_ATOMIC(atomicXor, __hip_atomic_fetch_xor, type)

__AMDGPU_ATOMIC_INTEGER(int)
__AMDGPU_ATOMIC_INTEGER(unsigned)
__AMDGPU_ATOMIC_INTEGER(long)
__AMDGPU_ATOMIC_INTEGER(unsigned long)
__AMDGPU_ATOMIC_INTEGER(long long)
__AMDGPU_ATOMIC_INTEGER(unsigned long long)
__AMDGPU_ATOMIC_NUMBER(float)
__AMDGPU_ATOMIC_NUMBER(double)
__AMDGPU_ATOMIC_CAS(unsigned short)
#undef __AMDGPU_ATOMIC_INTEGER
#undef __AMDGPU_ATOMIC_NUMBER
#undef __AMDGPU_ATOMIC_CAS
#undef __AMDGPU_ATOMIC

__AMDGPU_INLINE unsigned atomicInc(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "agent");
}
__AMDGPU_INLINE unsigned atomicDec(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "agent");
}
__AMDGPU_INLINE float unsafeAtomicAdd(float* p, float v) { return atomicAdd(p, v); }
__AMDGPU_INLINE double unsafeAtomicAdd(double* p, double v) { return atomicAdd(p, v); }
__AMDGPU_INLINE float safeAtomicAdd(float* p, float v) { return atomicAdd(p, v); }
__AMDGPU_INLINE double safeAtomicAdd(double* p, double v) { return atomicAdd(p, v); }
__AMDGPU_INLINE void atomicAddNoRet(float* p, float v) { atomicAdd(p, v); }
