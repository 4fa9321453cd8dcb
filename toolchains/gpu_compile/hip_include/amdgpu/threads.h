// Which thread this is. Sizes come from the implicit arguments of code object version 5
// (LLVM's AMDGPU usage, "Code Object V5 Metadata": hidden_block_count_x at 0, hidden_group_size_x
// at 12).
#pragma once

#define __AMDGPU_AXIS(axis)                                                                       \
  __declspec(property(get = __get_##axis)) unsigned axis;
#define __AMDGPU_COORDINATES                                                                      \
  __AMDGPU_AXIS(x) __AMDGPU_AXIS(y) __AMDGPU_AXIS(z)                                              \
  __device__ __attribute__((always_inline)) operator dim3() const {                               \
    return dim3(__get_x(), __get_y(), __get_z());                                                 \
  }                                                                                               \
  __device__ __attribute__((always_inline)) operator uint3() const {                              \
    return uint3{__get_x(), __get_y(), __get_z()};                                                \
  }
#define __AMDGPU_GET(axis, value)                                                                 \
  __device__ __attribute__((always_inline)) static unsigned __get_##axis() { return value; }

struct __hip_thread_index {
  __AMDGPU_GET(x, __builtin_amdgcn_workitem_id_x())
  __AMDGPU_GET(y, __builtin_amdgcn_workitem_id_y())
  __AMDGPU_GET(z, __builtin_amdgcn_workitem_id_z())
  __AMDGPU_COORDINATES
};
struct __hip_block_index {
  __AMDGPU_GET(x, __builtin_amdgcn_workgroup_id_x())
  __AMDGPU_GET(y, __builtin_amdgcn_workgroup_id_y())
  __AMDGPU_GET(z, __builtin_amdgcn_workgroup_id_z())
  __AMDGPU_COORDINATES
};
struct __hip_block_size {
  __AMDGPU_GET(x, __builtin_amdgcn_workgroup_size_x())
  __AMDGPU_GET(y, __builtin_amdgcn_workgroup_size_y())
  __AMDGPU_GET(z, __builtin_amdgcn_workgroup_size_z())
  __AMDGPU_COORDINATES
};
struct __hip_grid_size {
  __device__ __attribute__((always_inline)) static unsigned __count(unsigned axis) {
    typedef const unsigned __attribute__((address_space(4))) counts;
    return ((counts*)__builtin_amdgcn_implicitarg_ptr())[axis];
  }
  __AMDGPU_GET(x, __count(0))
  __AMDGPU_GET(y, __count(1))
  __AMDGPU_GET(z, __count(2))
  __AMDGPU_COORDINATES
};
#undef __AMDGPU_GET
#undef __AMDGPU_COORDINATES
#undef __AMDGPU_AXIS

// Not a constant expression, as in HIP 7: code objects exist for 32 and for 64.
struct __hip_warp_size {
  __host__ __device__ __attribute__((always_inline)) operator int() const {
#if __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_wavefrontsize();
#else
    return 64;
#endif
  }
};

extern __device__ const __attribute__((weak)) __hip_thread_index threadIdx;
extern __device__ const __attribute__((weak)) __hip_block_index blockIdx;
extern __device__ const __attribute__((weak)) __hip_block_size blockDim;
extern __device__ const __attribute__((weak)) __hip_grid_size gridDim;
static __device__ const __hip_warp_size warpSize = {};

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

__AMDGPU_INLINE unsigned __lane_id() {
#if __GFX9__
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#else
  return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#endif
}
__AMDGPU_INLINE unsigned __smid() { return 0; }
