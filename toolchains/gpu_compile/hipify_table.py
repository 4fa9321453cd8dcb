"""CUDA's names and HIP's: what becomes what, what stays, and what has no counterpart.

From the HIP documentation ("HIP porting guide", "CUDA to HIP API function comparison", "HIP C++
language extensions"), ROCm 7.
"""

from __future__ import annotations

from collections.abc import Mapping

HEADERS: Mapping[str, str] = {
    "cuda.h": "hip/hip_runtime.h",
    "cuda_runtime.h": "hip/hip_runtime.h",
    "cuda_runtime_api.h": "hip/hip_runtime_api.h",
    "device_launch_parameters.h": "hip/hip_runtime.h",
    "device_functions.h": "hip/device_functions.h",
    "math_functions.h": "hip/math_functions.h",
    "math_constants.h": "hip/hip_math_constants.h",
    "vector_types.h": "hip/hip_vector_types.h",
    "vector_functions.h": "hip/hip_vector_types.h",
    "driver_types.h": "hip/driver_types.h",
    "host_defines.h": "hip/host_defines.h",
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cuda_fp16.hpp": "hip/hip_fp16.h",
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuComplex.h": "hip/hip_complex.h",
    "cooperative_groups.h": "hip/hip_cooperative_groups.h",
    "curand.h": "hiprand/hiprand.h",
    "curand_kernel.h": "hiprand/hiprand_kernel.h",
    "cublas_v2.h": "hipblas/hipblas.h",
    "cufft.h": "hipfft/hipfft.h",
    "cusparse.h": "hipsparse/hipsparse.h",
    "cub/cub.cuh": "hipcub/hipcub.hpp",
}
HEADER_FOLDERS: Mapping[str, str] = {"cub/": "hipcub/hipcub.hpp"}
"""Folder of headers → the one that has them all."""
HEADERS_WITHOUT: Mapping[str, str] = {
    "cooperative_groups/": "HIP has blocks, tiles and coalesced groups only: write the reduction "
    "or scan with shfl of the tile",
    "cuda/pipeline": "AMD has no asynchronous copy to LDS of this kind: load to registers, then "
    "store to shared memory",
    "cuda/barrier": "use __syncthreads()",
    "cuda/atomic": "use __hip_atomic_load, __hip_atomic_store and __hip_atomic_fetch_add with "
    "__ATOMIC_RELAXED … and __HIP_MEMORY_SCOPE_AGENT",
    "cuda/std/": "use the compiler's own <type_traits>, <limits>, …",
    "mma.h": "use rocWMMA, or __builtin_amdgcn_mfma_… on CDNA",
    "nvtx3/": "use rocTX, or leave it out",
    "nv/": "there is no <nv/target>: use __HIP_DEVICE_COMPILE__",
    "texture_fetch_functions.h": "CDNA has no textures: read global memory",
}

_REGULAR = """
ChannelFormatDesc CreateChannelDesc CreateTextureObject DestroyTextureObject DeviceCanAccessPeer
DeviceDisablePeerAccess DeviceEnablePeerAccess DeviceGetAttribute DeviceGetLimit DeviceReset
DeviceSetCacheConfig DeviceSetLimit DeviceSynchronize DriverGetVersion EventBlockingSync EventCreate
EventCreateWithFlags EventDefault EventDestroy EventDisableTiming EventElapsedTime EventQuery
EventRecord EventSynchronize Event_t ErrorInvalidValue ErrorMemoryAllocation ErrorNotReady
ErrorPeerAccessAlreadyEnabled ErrorUnknown Error_t Extent Free FreeArray FreeAsync FuncAttribute
FuncAttributeMaxDynamicSharedMemorySize FuncAttributePreferredSharedMemoryCarveout FuncAttributes
FuncCachePreferL1 FuncCachePreferShared FuncGetAttributes FuncSetAttribute FuncSetCacheConfig
GetDevice GetDeviceCount GetErrorName GetErrorString GetLastError GetSymbolAddress GetSymbolSize
GraphCreate GraphDestroy GraphExecDestroy GraphExec_t GraphInstantiate GraphLaunch GraphNode_t
Graph_t HostGetDevicePointer HostRegister HostRegisterMapped HostUnregister LaunchCooperativeKernel
LaunchHostFunc LaunchKernel Malloc MallocArray MallocAsync MallocManaged MallocPitch MemAdvise
MemAttachGlobal MemAttachHost MemGetInfo MemPool_t MemPrefetchAsync Memcpy Memcpy2D Memcpy2DAsync
Memcpy3D MemcpyAsync MemcpyDefault MemcpyDeviceToDevice MemcpyDeviceToHost MemcpyFromSymbol
MemcpyHostToDevice MemcpyHostToHost MemcpyKind MemcpyPeer MemcpyPeerAsync MemcpyToSymbol
MemcpyToSymbolAsync Memset Memset2D Memset2DAsync MemsetAsync
OccupancyMaxActiveBlocksPerMultiprocessor OccupancyMaxPotentialBlockSize PeekAtLastError Pos
ProfilerStart ProfilerStop ReadModeElementType ResourceDesc RuntimeGetVersion SetDevice
SetDeviceFlags StreamAttachMemAsync StreamBeginCapture StreamCaptureModeGlobal StreamCreate
StreamCreateWithFlags StreamCreateWithPriority StreamDefault StreamDestroy StreamEndCapture
StreamNonBlocking StreamQuery StreamSynchronize StreamWaitEvent Stream_t Success SurfaceObject_t
TextureDesc TextureObject_t
"""
_IRREGULAR: Mapping[str, str] = {
    "cudaError": "hipError_t",
    "cudaDeviceProp": "hipDeviceProp_t",
    "cudaMallocHost": "hipHostMalloc",
    "cudaHostAlloc": "hipHostMalloc",
    "cudaHostAllocDefault": "hipHostMallocDefault",
    "cudaHostAllocMapped": "hipHostMallocMapped",
    "cudaHostAllocPortable": "hipHostMallocPortable",
    "cudaFreeHost": "hipHostFree",
    "cudaThreadSynchronize": "hipDeviceSynchronize",
    "cudaDevAttrMultiProcessorCount": "hipDeviceAttributeMultiprocessorCount",
    "cudaDevAttrWarpSize": "hipDeviceAttributeWarpSize",
    "cudaDevAttrMaxThreadsPerBlock": "hipDeviceAttributeMaxThreadsPerBlock",
    "cudaDevAttrCooperativeLaunch": "hipDeviceAttributeCooperativeLaunch",
    "cudaDevAttrMaxSharedMemoryPerBlock": "hipDeviceAttributeMaxSharedMemoryPerBlock",
    "cudaDevAttrMaxSharedMemoryPerBlockOptin": "hipDeviceAttributeMaxSharedMemoryPerBlock",
}
_TYPES: Mapping[str, str] = {
    "__nv_bfloat16": "__hip_bfloat16",
    "nv_bfloat16": "__hip_bfloat16",
    "__nv_bfloat162": "__hip_bfloat162",
    "nv_bfloat162": "__hip_bfloat162",
    "cuComplex": "hipComplex",
    "cuFloatComplex": "hipFloatComplex",
    "cuDoubleComplex": "hipDoubleComplex",
    "make_cuComplex": "make_hipComplex",
    "make_cuDoubleComplex": "make_hipDoubleComplex",
    "curandState": "hiprandState",
    "curandState_t": "hiprandState_t",
    "curand_init": "hiprand_init",
    "curand_uniform": "hiprand_uniform",
    "curand_normal": "hiprand_normal",
    "__CUDACC__": "__HIPCC__",
    "__CUDA_ARCH__": "__HIP_DEVICE_COMPILE__",
    "CUDART_INF_F": "HIP_INF_F",
    "CUDART_INF": "HIP_INF",
    "CUDART_NAN_F": "HIP_NAN_F",
    "CUDART_NAN": "HIP_NAN",
    "CUDART_PI_F": "HIP_PI_F",
    "CUDART_PI": "HIP_PI",
    "CUDART_CB": "HIPRT_CB",
    "cub": "hipcub",
    "__inline__": "inline",
}
_DEVICE: Mapping[str, str] = {
    **{f"{kind}{op}": op for kind in ("u", "ll", "ull") for op in ("min", "max")},
    "__ldcg": "__builtin_nontemporal_load",
    "__ldcs": "__builtin_nontemporal_load",
    "__ldlu": "__builtin_nontemporal_load",
    "__ldcv": "__builtin_nontemporal_load",
    "__ldca": "__ldg",
    "__nanosleep": "__builtin_amdgcn_s_sleep",
    "__brkpt": "__builtin_trap",
}
_WHY_DEVICE: Mapping[str, str] = {
    **{
        f"{kind}{op}": "one name for all types"
        for kind in ("u", "ll", "ull")
        for op in ("min", "max")
    },
    **{f"{kind}{op}": op for kind in ("u", "ll", "ull") for op in ("min", "max")},
    "__nanosleep": "HIP's counts 64 clocks, and takes a constant: write s_sleep(1)",
    "__ldca": "all loads are cached so",
}

RENAMED: Mapping[str, str] = {
    **{f"cuda{name}": f"hip{name}" for name in _REGULAR.split()},
    **_IRREGULAR,
    **_TYPES,
    **_DEVICE,
}
"""CUDA's name → HIP's."""


def why_renamed(name: str) -> str:
    """Of one of `RENAMED`."""
    if name in _DEVICE:
        return _WHY_DEVICE.get(name, "HIP has no cache hints; the compiler's own comes closest")
    if name == "__CUDA_ARCH__":
        return "set while device code is compiled; it is no architecture's number"
    return "HIP's name"


WITHOUT: Mapping[str, str] = {
    "__dp4a": "use __builtin_amdgcn_sdot4 (gfx90a, gfx942) or write out the four products",
    "__dp2a": "write out the products",
    "__vabsdiffu4": "use __builtin_amdgcn_sad_u8, or write out the four differences",
    "__usad4": "use __builtin_amdgcn_sad_u8",
    "__vadd4": "use shifts and masks, or vector types of the compiler",
    "__vsub4": "use shifts and masks, or vector types of the compiler",
    "__vcmpeq4": "use shifts and masks",
    "__vmaxs2": "use short2 and max",
    "__pipeline_memcpy_async": "load to a register, then store to shared memory",
    "__pipeline_commit": "leave it out, with the asynchronous copy",
    "__pipeline_wait_prior": "use __syncthreads()",
    "__cvta_generic_to_shared": "pointers to LDS need no conversion in C++",
    "__isGlobal": "leave it out",
    "__isShared": "leave it out",
    "__stcg": "use __builtin_nontemporal_store(value, pointer): the other way round",
    "__stcs": "use __builtin_nontemporal_store(value, pointer): the other way round",
    "__stwt": "use __builtin_nontemporal_store(value, pointer): the other way round",
    "__fadd_rd": "HIP rounds to nearest only",
    "__fadd_ru": "HIP rounds to nearest only",
    "__fadd_rz": "HIP rounds to nearest only",
    "__fmul_rd": "HIP rounds to nearest only",
    "__fmul_ru": "HIP rounds to nearest only",
    "__fmul_rz": "HIP rounds to nearest only",
    "__fsub_rd": "HIP rounds to nearest only",
    "__fsub_ru": "HIP rounds to nearest only",
    "__fsub_rz": "HIP rounds to nearest only",
    "__fdiv_rd": "HIP rounds to nearest only",
    "__fdiv_ru": "HIP rounds to nearest only",
    "__float_to_tf32": "AMD has no TF32 outside its matrix cores",
    "__uni_sync": "compare __ballot_sync with 0 and with the mask",
    "__nv_fp8_e4m3": "use hip/hip_fp8.h: __hip_fp8_e4m3",
    "__nv_fp8_e5m2": "use hip/hip_fp8.h: __hip_fp8_e5m2",
    "__cluster_dims__": "AMD has no clusters of blocks",
    "__nv_atomic_fetch_add": "use __hip_atomic_fetch_add",
    "tex1Dfetch": "CDNA has no textures: read global memory",
    "tex1D": "CDNA has no textures: read global memory",
    "tex2D": "CDNA has no textures: read global memory",
    "tex3D": "CDNA has no textures: read global memory",
    "surf2Dread": "CDNA has no surfaces: read global memory",
    "surf2Dwrite": "CDNA has no surfaces: write global memory",
    "wmma": "use rocWMMA, or __builtin_amdgcn_mfma_… on CDNA",
    "nvcuda": "use rocWMMA, or __builtin_amdgcn_mfma_… on CDNA",
    "cudaGetDeviceProperties_v2": "use hipGetDeviceProperties",
    "cudaGridDependencySynchronize": "AMD has no programmatic dependent launch",
    "cudaTriggerProgrammaticLaunchCompletion": "AMD has no programmatic dependent launch",
}
"""Names of CUDA that HIP has nothing for → what to write."""

SHUFFLES = frozenset(("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"))
OLD_SHUFFLES = frozenset(("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"))
"""Of before CUDA 9, without masks; HIP has them too."""
VOTES = frozenset(("__all_sync", "__any_sync", "__syncwarp"))
"""With a mask and a result that is no set of lanes; __syncwarp may have none."""
REDUCTIONS = frozenset(f"__reduce_{op}_sync" for op in ("add", "min", "max", "and", "or", "xor"))
LANE_SETS = frozenset(("__ballot_sync", "__match_any_sync"))
"""With a mask; the result is a set of lanes."""
BARE_LANE_SETS = frozenset(("__ballot", "__activemask"))
