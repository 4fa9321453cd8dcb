// Qualifiers of HIP, and what launch bounds mean on AMDGPU.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#define __HIPCC__ 1
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 70000000

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

// The second argument is waves of a SIMD (a CU has 4 in CDNA), not blocks of a processor.
#define __AMDGPU_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __AMDGPU_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define __AMDGPU_BOUNDS(a, b, which, ...) which
#define __launch_bounds__(...) \
  __AMDGPU_BOUNDS(__VA_ARGS__, __AMDGPU_BOUNDS_2, __AMDGPU_BOUNDS_1, )(__VA_ARGS__)

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIPRT_CB

#ifndef NULL
#define NULL __null
#endif

#define __AMDGPU_INLINE static inline __device__ __attribute__((always_inline))
#define __AMDGPU_BOTH static inline __host__ __device__ __attribute__((always_inline))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long long ulonglong;
typedef long long longlong;
typedef __SIZE_TYPE__ size_t;
typedef long clock_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;

struct dim3 {
  unsigned x, y, z;
  constexpr __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};
