// What nvcc, NVRTC and hiprtc define without any #include.
#pragma once
#include <stddef.h>

#include "host_api.h"
#include "rounding.h"

#ifdef SIMT_HIP
#define __HIPCC__ 1
#define __HIP__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_PLATFORM_AMD__ 1
#else
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define SIMT_EMULATOR 1
#ifndef SIMT_HOSTED
// As in glibc's sys/types.h, which nvcc includes.
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#endif

extern "C" {
SIMT_DEVICE int printf(const char *, ...);
SIMT_DEVICE void *memcpy(void *, const void *, size_t);
SIMT_DEVICE void *memmove(void *, const void *, size_t);
SIMT_DEVICE void *memset(void *, int, size_t);
}
SIMT_FN void simt_claim_failed(unsigned line) { __simt_trap(line, SIMT_TRAP_ASSERT); }
static inline SIMT_HOST void simt_claim_failed(unsigned) {}
#define assert(claim) ((claim) ? (void)0 : simt_claim_failed(__LINE__))
#ifdef NDEBUG
#undef assert
#define assert(claim) ((void)0)
#endif
#ifdef SIMT_HIP
#include "hip_extras.h"
#endif
