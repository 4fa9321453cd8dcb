// The host's side of CUDA and HIP, declared so that a file with host code can be read. Nothing is
// ever called: functions of the host are not emitted.
#pragma once
#include "vector_types.h"

#define SIMT_HOST_API(prefix)                                                                      \
    typedef struct prefix##Stream_st *prefix##Stream_t;                                            \
    typedef struct prefix##Event_st *prefix##Event_t;                                              \
    enum prefix##MemcpyKind {                                                                      \
        prefix##MemcpyHostToHost,                                                                  \
        prefix##MemcpyHostToDevice,                                                                \
        prefix##MemcpyDeviceToHost,                                                                \
        prefix##MemcpyDeviceToDevice,                                                              \
        prefix##MemcpyDefault                                                                      \
    };                                                                                             \
    struct prefix##DeviceProp {                                                                    \
        char name[256];                                                                            \
        unsigned long totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, totalConstMem;    \
        int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];          \
        int clockRate, major, minor, multiProcessorCount, memoryClockRate, memoryBusWidth;         \
        int l2CacheSize, maxThreadsPerMultiProcessor, sharedMemPerMultiprocessor, integrated;      \
        int canMapHostMemory, concurrentKernels, unifiedAddressing, managedMemory;                 \
        int cooperativeLaunch;                                                                     \
    };                                                                                             \
    enum prefix##FuncAttribute {                                                                   \
        prefix##FuncAttributeMaxDynamicSharedMemorySize = 8,                                       \
        prefix##FuncAttributePreferredSharedMemoryCarveout = 9                                     \
    };                                                                                             \
    enum prefix##DeviceAttr {                                                                      \
        prefix##DevAttrMaxThreadsPerBlock = 1,                                                     \
        prefix##DevAttrMaxSharedMemoryPerBlock = 8,                                                \
        prefix##DevAttrMaxSharedMemoryPerBlockOptin = 97,                                          \
        prefix##DevAttrWarpSize = 10,                                                              \
        prefix##DevAttrClockRate = 13,                                                             \
        prefix##DevAttrIntegrated = 18,                                                            \
        prefix##DevAttrMaxSharedMemoryPerMultiprocessor = 81,                                      \
        prefix##DevAttrComputeMode = 20,                                                     \
        prefix##DevAttrMultiProcessorCount = 16,                                                   \
        prefix##DevAttrComputeCapabilityMajor = 75,                                                \
        prefix##DevAttrComputeCapabilityMinor = 76,                                                \
        prefix##DevAttrCooperativeLaunch = 95                                                      \
    };                                                                                             \
    extern "C" {                                                                                   \
    prefix##Error_t prefix##GetLastError();                                                        \
    prefix##Error_t prefix##PeekAtLastError();                                                     \
    const char *prefix##GetErrorString(prefix##Error_t);                                           \
    const char *prefix##GetErrorName(prefix##Error_t);                                             \
    prefix##Error_t prefix##DeviceSynchronize();                                                   \
    prefix##Error_t prefix##DeviceReset();                                                         \
    prefix##Error_t prefix##SetDevice(int);                                                        \
    prefix##Error_t prefix##GetDevice(int *);                                                      \
    prefix##Error_t prefix##GetDeviceCount(int *);                                                 \
    prefix##Error_t prefix##GetDeviceProperties(prefix##DeviceProp *, int);                        \
    prefix##Error_t prefix##DeviceGetAttribute(int *, prefix##DeviceAttr, int);                    \
    prefix##Error_t prefix##Memcpy(void *, const void *, unsigned long, prefix##MemcpyKind);       \
    prefix##Error_t prefix##MemcpyAsync(void *, const void *, unsigned long, prefix##MemcpyKind,   \
                                        prefix##Stream_t = 0);                                     \
    prefix##Error_t prefix##Memset(void *, int, unsigned long);                                    \
    prefix##Error_t prefix##MemsetAsync(void *, int, unsigned long, prefix##Stream_t = 0);         \
    prefix##Error_t prefix##Free(void *);                                                          \
    prefix##Error_t prefix##FreeHost(void *);                                                      \
    prefix##Error_t prefix##MemGetInfo(unsigned long *, unsigned long *);                          \
    prefix##Error_t prefix##StreamCreate(prefix##Stream_t *);                                      \
    prefix##Error_t prefix##StreamDestroy(prefix##Stream_t);                                       \
    prefix##Error_t prefix##StreamSynchronize(prefix##Stream_t);                                   \
    prefix##Error_t prefix##EventCreate(prefix##Event_t *);                                        \
    prefix##Error_t prefix##EventDestroy(prefix##Event_t);                                         \
    prefix##Error_t prefix##EventRecord(prefix##Event_t, prefix##Stream_t = 0);                    \
    prefix##Error_t prefix##EventSynchronize(prefix##Event_t);                                     \
    prefix##Error_t prefix##EventElapsedTime(float *, prefix##Event_t, prefix##Event_t);           \
    }                                                                                              \
    template <class T> prefix##Error_t prefix##Malloc(T **, unsigned long);                        \
    template <class T> prefix##Error_t prefix##MallocAsync(T **, unsigned long, prefix##Stream_t); \
    prefix##Error_t prefix##FreeAsync(void *, prefix##Stream_t);                                   \
    template <class T> prefix##Error_t prefix##MallocHost(T **, unsigned long, unsigned = 0);      \
    template <class T> prefix##Error_t prefix##HostAlloc(T **, unsigned long, unsigned = 0);       \
    template <class T> prefix##Error_t prefix##MallocManaged(T **, unsigned long, unsigned = 1);   \
    template <class T>                                                                             \
    prefix##Error_t prefix##MemcpyToSymbol(const T &, const void *, unsigned long,                 \
                                           unsigned long = 0,                                      \
                                           prefix##MemcpyKind = prefix##MemcpyHostToDevice);       \
    template <class T>                                                                             \
    prefix##Error_t prefix##MemcpyFromSymbol(void *, const T &, unsigned long, unsigned long = 0,  \
                                             prefix##MemcpyKind = prefix##MemcpyDeviceToHost);     \
    template <class T>                                                                             \
    prefix##Error_t prefix##MemcpyToSymbolAsync(const T &, const void *, unsigned long,            \
                                                unsigned long, prefix##MemcpyKind,                 \
                                                prefix##Stream_t = 0);                             \
    template <class T> prefix##Error_t prefix##GetSymbolAddress(void **, const T &);               \
    template <class F> prefix##Error_t prefix##FuncSetAttribute(F, prefix##FuncAttribute, int);    \
    template <class F> prefix##Error_t prefix##FuncSetCacheConfig(F, int);                         \
    template <class F>                                                                             \
    prefix##Error_t prefix##LaunchKernel(F, dim3, dim3, void **, unsigned long = 0,                \
                                         prefix##Stream_t = 0);                                    \
    template <class F>                                                                             \
    prefix##Error_t prefix##LaunchCooperativeKernel(F, dim3, dim3, void **, unsigned long = 0,     \
                                                    prefix##Stream_t = 0);                         \
    template <class F>                                                                             \
    prefix##Error_t prefix##OccupancyMaxActiveBlocksPerMultiprocessor(int *, F, int,               \
                                                                      unsigned long);              \
    template <class F>                                                                             \
    prefix##Error_t prefix##OccupancyMaxPotentialBlockSize(int *, int *, F, unsigned long = 0,     \
                                                           int = 0);

enum cudaError {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorUnknown = 999
};
typedef cudaError cudaError_t;
SIMT_HOST_API(cuda)
enum { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1 };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped };
extern "C" int cudaConfigureCall(dim3, dim3, unsigned long = 0, cudaStream_t = 0);
#ifdef SIMT_HIP
enum hipError_t { hipSuccess, hipErrorInvalidValue, hipErrorOutOfMemory, hipErrorUnknown = 999 };
SIMT_HOST_API(hip)
typedef hipDeviceProp hipDeviceProp_t;
template <class T> hipError_t hipHostMalloc(T **, unsigned long, unsigned = 0);
hipError_t hipHostFree(void *);
template <class... P, class... A>
void hipLaunchKernelGGL(void (*)(P...), dim3, dim3, unsigned, hipStream_t, A &&...);
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(x) x
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#endif
