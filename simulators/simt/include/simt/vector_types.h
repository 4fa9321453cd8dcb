// char1 … double4, dim3 and make_*; members and alignments as in CUDA's vector_types.h.
#pragma once
#include "base.h"

#define SIMT_VECTOR(base, name, a1, a2, a4)                                                        \
    struct name##1 { base x; };                                                                    \
    struct __attribute__((aligned(a2))) name##2 { base x, y; };                                    \
    struct name##3 { base x, y, z; };                                                              \
    struct __attribute__((aligned(a4))) name##4 { base x, y, z, w; };                              \
    SIMT_BOTH name##1 make_##name##1(base x) { return name##1{x}; }                                \
    SIMT_BOTH name##2 make_##name##2(base x, base y) { return name##2{x, y}; }                     \
    SIMT_BOTH name##3 make_##name##3(base x, base y, base z) { return name##3{x, y, z}; }          \
    SIMT_BOTH name##4 make_##name##4(base x, base y, base z, base w) {                             \
        return name##4{x, y, z, w};                                                                \
    }
SIMT_VECTOR(signed char, char, 1, 2, 4)
SIMT_VECTOR(unsigned char, uchar, 1, 2, 4)
SIMT_VECTOR(short, short, 2, 4, 8)
SIMT_VECTOR(unsigned short, ushort, 2, 4, 8)
SIMT_VECTOR(int, int, 4, 8, 16)
SIMT_VECTOR(unsigned int, uint, 4, 8, 16)
SIMT_VECTOR(long, long, 8, 16, 16)
SIMT_VECTOR(unsigned long, ulong, 8, 16, 16)
SIMT_VECTOR(long long, longlong, 8, 16, 16)
SIMT_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
SIMT_VECTOR(float, float, 4, 8, 16)
SIMT_VECTOR(double, double, 8, 16, 16)
#undef SIMT_VECTOR

struct dim3 {
    unsigned x, y, z;
    SIMT_BOTH_METHOD constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
        : x(x), y(y), z(z) {}
    SIMT_BOTH_METHOD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    SIMT_BOTH_METHOD constexpr operator uint3() const { return uint3{x, y, z}; }
};
