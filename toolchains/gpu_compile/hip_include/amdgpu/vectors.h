// char2 … double4 with element-wise operators, as HIP has them.
#pragma once

template <typename T, unsigned n> struct HIP_vector_type;

template <typename T> struct HIP_vector_type<T, 1> {
  typedef T value_type;
  T x;
};
template <typename T> struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
  typedef T value_type;
  T x, y;
};
template <typename T> struct HIP_vector_type<T, 3> {
  typedef T value_type;
  T x, y, z;
};
template <typename T> struct alignas(4 * sizeof(T)) HIP_vector_type<T, 4> {
  typedef T value_type;
  T x, y, z, w;
};

#define __AMDGPU_VECTOR_OPERATOR(op)                                                              \
  template <typename T>                                                                           \
  constexpr __host__ __device__ HIP_vector_type<T, 1> operator op(HIP_vector_type<T, 1> a,        \
                                                                  HIP_vector_type<T, 1> b) {      \
    return {T(a.x op b.x)};                                                                       \
  }                                                                                               \
  template <typename T>                                                                           \
  constexpr __host__ __device__ HIP_vector_type<T, 2> operator op(HIP_vector_type<T, 2> a,        \
                                                                  HIP_vector_type<T, 2> b) {      \
    return {T(a.x op b.x), T(a.y op b.y)};                                                        \
  }                                                                                               \
  template <typename T>                                                                           \
  constexpr __host__ __device__ HIP_vector_type<T, 3> operator op(HIP_vector_type<T, 3> a,        \
                                                                  HIP_vector_type<T, 3> b) {      \
    return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z)};                                         \
  }                                                                                               \
  template <typename T>                                                                           \
  constexpr __host__ __device__ HIP_vector_type<T, 4> operator op(HIP_vector_type<T, 4> a,        \
                                                                  HIP_vector_type<T, 4> b) {      \
    return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z), T(a.w op b.w)};                          \
  }                                                                                               \
  template <typename T, unsigned n>                                                               \
  constexpr __host__ __device__ HIP_vector_type<T, n>& operator op##=(                            \
      HIP_vector_type<T, n>& a, HIP_vector_type<T, n> b) {                                        \
    return a = a op b;                                                                            \
  }
__AMDGPU_VECTOR_OPERATOR(+)
__AMDGPU_VECTOR_OPERATOR(-)
__AMDGPU_VECTOR_OPERATOR(*)
__AMDGPU_VECTOR_OPERATOR(/)
#undef __AMDGPU_VECTOR_OPERATOR

#define __AMDGPU_VECTOR(type, name)                                                               \
  typedef HIP_vector_type<type, 1> name##1;                                                       \
  typedef HIP_vector_type<type, 2> name##2;                                                       \
  typedef HIP_vector_type<type, 3> name##3;                                                       \
  typedef HIP_vector_type<type, 4> name##4;                                                       \
  __AMDGPU_BOTH name##1 make_##name##1(type x) { return {x}; }                                    \
  __AMDGPU_BOTH name##2 make_##name##2(type x, type y) { return {x, y}; }                         \
  __AMDGPU_BOTH name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }              \
  __AMDGPU_BOTH name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
__AMDGPU_VECTOR(signed char, char)
__AMDGPU_VECTOR(unsigned char, uchar)
__AMDGPU_VECTOR(short, short)
__AMDGPU_VECTOR(unsigned short, ushort)
__AMDGPU_VECTOR(int, int)
__AMDGPU_VECTOR(unsigned int, uint)
__AMDGPU_VECTOR(long, long)
__AMDGPU_VECTOR(unsigned long, ulong)
__AMDGPU_VECTOR(long long, longlong)
__AMDGPU_VECTOR(unsigned long long, ulonglong)
__AMDGPU_VECTOR(float, float)
__AMDGPU_VECTOR(double, double)
#undef __AMDGPU_VECTOR
