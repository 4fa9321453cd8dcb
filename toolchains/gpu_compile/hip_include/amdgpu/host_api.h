// Declarations of the host's interface, so that host code beside kernels parses. Nothing runs it.
#pragma once

#define __AMDGPU_SUCCESS hipSuccess = 0
enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotReady = 600,
  hipErrorUnknown = 999
};
enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice,
  hipMemcpyDefault
};
enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9
};
enum hipDeviceAttribute_t {
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeCooperativeLaunch,
  hipDeviceAttributeMaxSharedMemoryPerBlock
};
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef int hipDevice_t;
struct hipDeviceProp_t {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
  int warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, multiProcessorCount;
  int maxThreadsDim[3], maxGridSize[3];
  int major, minor, clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, regsPerBlock;
  int cooperativeLaunch, managedMemory, concurrentManagedAccess;
  char gcnArchName[256];
};
#define hipHostMallocDefault 0
#define hipHostMallocMapped 2
#define hipStreamDefault 0
#define hipStreamNonBlocking 1
#define hipEventDefault 0
#define hipEventBlockingSync 1
#define hipEventDisableTiming 2
#define hipMemAttachGlobal 1

const char* hipGetErrorString(hipError_t);
const char* hipGetErrorName(hipError_t);
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
hipError_t hipSetDevice(int);
hipError_t hipGetDevice(int*);
hipError_t hipGetDeviceCount(int*);
hipError_t hipGetDeviceProperties(hipDeviceProp_t*, int);
hipError_t hipDeviceGetAttribute(int*, hipDeviceAttribute_t, int);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipMalloc(void**, size_t);
hipError_t hipMallocManaged(void**, size_t, unsigned = hipMemAttachGlobal);
hipError_t hipHostMalloc(void**, size_t, unsigned = 0);
hipError_t hipMallocAsync(void**, size_t, hipStream_t);
hipError_t hipFree(void*);
hipError_t hipFreeAsync(void*, hipStream_t);
hipError_t hipHostFree(void*);
hipError_t hipMemGetInfo(size_t*, size_t*);
hipError_t hipMemcpy(void*, const void*, size_t, hipMemcpyKind);
hipError_t hipMemcpyAsync(void*, const void*, size_t, hipMemcpyKind, hipStream_t = nullptr);
hipError_t hipMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, hipMemcpyKind);
hipError_t hipMemset(void*, int, size_t);
hipError_t hipMemsetAsync(void*, int, size_t, hipStream_t = nullptr);
hipError_t hipStreamCreate(hipStream_t*);
hipError_t hipStreamCreateWithFlags(hipStream_t*, unsigned);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamQuery(hipStream_t);
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned = 0);
hipError_t hipEventCreate(hipEvent_t*);
hipError_t hipEventCreateWithFlags(hipEvent_t*, unsigned);
hipError_t hipEventDestroy(hipEvent_t);
hipError_t hipEventRecord(hipEvent_t, hipStream_t = nullptr);
hipError_t hipEventSynchronize(hipEvent_t);
hipError_t hipEventQuery(hipEvent_t);
hipError_t hipEventElapsedTime(float*, hipEvent_t, hipEvent_t);
hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int);
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t);
extern "C" hipError_t __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = nullptr);

template <typename T> hipError_t hipMalloc(T** p, size_t n) { return hipMalloc((void**)p, n); }
template <typename T> hipError_t hipMallocManaged(T** p, size_t n, unsigned flags = 1) {
  return hipMallocManaged((void**)p, n, flags);
}
template <typename T> hipError_t hipHostMalloc(T** p, size_t n, unsigned flags = 0) {
  return hipHostMalloc((void**)p, n, flags);
}
template <typename T> hipError_t hipMallocAsync(T** p, size_t n, hipStream_t stream) {
  return hipMallocAsync((void**)p, n, stream);
}
template <typename T>
hipError_t hipMemcpyToSymbol(const T&, const void*, size_t, size_t = 0,
                             hipMemcpyKind = hipMemcpyHostToDevice);
template <typename T>
hipError_t hipMemcpyToSymbolAsync(const T&, const void*, size_t, size_t, hipMemcpyKind,
                                  hipStream_t = nullptr);
template <typename T>
hipError_t hipMemcpyFromSymbol(void*, const T&, size_t, size_t = 0,
                               hipMemcpyKind = hipMemcpyDeviceToHost);
template <typename T> hipError_t hipGetSymbolAddress(void**, const T&);
template <typename F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int*, F, int, size_t);
template <typename F>
hipError_t hipOccupancyMaxPotentialBlockSize(int*, int*, F, size_t = 0, int = 0);
template <typename F>
hipError_t hipLaunchCooperativeKernel(F, dim3, dim3, void**, unsigned, hipStream_t);
template <typename F> hipError_t hipFuncSetAttribute(F, hipFuncAttribute, int);

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)                              \
  kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
