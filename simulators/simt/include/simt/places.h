// threadIdx, blockIdx, blockDim, gridDim, warpSize.
#pragma once
#include "vector_types.h"

// Properties, not variables: `dim3 blockDim(256)` in host code stays what it is.
#define SIMT_PLACE(type, primitive, vector)                                                        \
    struct type {                                                                                  \
        __declspec(property(get = get_x)) unsigned x;                                              \
        __declspec(property(get = get_y)) unsigned y;                                              \
        __declspec(property(get = get_z)) unsigned z;                                              \
        SIMT_METHOD unsigned get_x() const { return primitive(0); }                                \
        SIMT_METHOD unsigned get_y() const { return primitive(1); }                                \
        SIMT_METHOD unsigned get_z() const { return primitive(2); }                                \
        SIMT_METHOD operator dim3() const { return dim3(x, y, z); }                                \
        SIMT_METHOD operator uint3() const { return uint3{x, y, z}; }                              \
    };
SIMT_PLACE(simt_thread_index, __simt_tid, uint3)
SIMT_PLACE(simt_block_index, __simt_ctaid, uint3)
SIMT_PLACE(simt_block_dim, __simt_ntid, dim3)
SIMT_PLACE(simt_grid_dim, __simt_nctaid, dim3)
#undef SIMT_PLACE
extern const SIMT_DEVICE __attribute__((weak)) simt_thread_index threadIdx;
extern const SIMT_DEVICE __attribute__((weak)) simt_block_index blockIdx;
extern const SIMT_DEVICE __attribute__((weak)) simt_block_dim blockDim;
extern const SIMT_DEVICE __attribute__((weak)) simt_grid_dim gridDim;
static constexpr int warpSize = SIMT_WARP;
