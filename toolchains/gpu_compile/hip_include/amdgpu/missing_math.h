// What AMD's device library ocml supplies: declared, so that a use of it is reported by name.
// The message begins with a word that toolchains/gpu_compile/hip_messages.py looks for.
#pragma once

#define __AMDGPU_OCML(type, name, parameters)                                                     \
  extern __device__ __attribute__((error("ocml: " #name #parameters))) type name parameters;
#define __AMDGPU_OCML_UNARY(name)                                                                 \
  __AMDGPU_OCML(float, name##f, (float))                                                          \
  __AMDGPU_OCML(float, name, (float))                                                             \
  __AMDGPU_OCML(double, name, (double))
#define __AMDGPU_OCML_BINARY(name)                                                                \
  __AMDGPU_OCML(float, name##f, (float, float))                                                   \
  __AMDGPU_OCML(float, name, (float, float))                                                      \
  __AMDGPU_OCML(double, name, (double, double))
__AMDGPU_OCML_UNARY(sin)
__AMDGPU_OCML_UNARY(cos)
__AMDGPU_OCML_UNARY(tan)
__AMDGPU_OCML_UNARY(asin)
__AMDGPU_OCML_UNARY(acos)
__AMDGPU_OCML_UNARY(atan)
__AMDGPU_OCML_UNARY(sinh)
__AMDGPU_OCML_UNARY(cosh)
__AMDGPU_OCML_UNARY(tanh)
__AMDGPU_OCML_UNARY(asinh)
__AMDGPU_OCML_UNARY(acosh)
__AMDGPU_OCML_UNARY(atanh)
__AMDGPU_OCML_UNARY(sinpi)
__AMDGPU_OCML_UNARY(cospi)
__AMDGPU_OCML_UNARY(expm1)
__AMDGPU_OCML_UNARY(log1p)
__AMDGPU_OCML_UNARY(cbrt)
__AMDGPU_OCML_UNARY(rcbrt)
__AMDGPU_OCML_UNARY(erf)
__AMDGPU_OCML_UNARY(erfc)
__AMDGPU_OCML_UNARY(erfinv)
__AMDGPU_OCML_UNARY(normcdf)
__AMDGPU_OCML_UNARY(tgamma)
__AMDGPU_OCML_UNARY(lgamma)
__AMDGPU_OCML_BINARY(pow)
__AMDGPU_OCML_BINARY(atan2)
__AMDGPU_OCML_BINARY(hypot)
__AMDGPU_OCML_BINARY(remainder)
__AMDGPU_OCML_BINARY(nextafter)
__AMDGPU_OCML(double, exp, (double))
__AMDGPU_OCML(double, exp2, (double))
__AMDGPU_OCML(double, exp10, (double))
__AMDGPU_OCML(double, log, (double))
__AMDGPU_OCML(double, log2, (double))
__AMDGPU_OCML(double, log10, (double))
__AMDGPU_OCML(float, pow, (float, int))
__AMDGPU_OCML(double, pow, (double, int))
__AMDGPU_OCML(float, powif, (float, int))
__AMDGPU_OCML(double, powi, (double, int))
__AMDGPU_OCML(void, sincosf, (float, float*, float*))
__AMDGPU_OCML(void, sincos, (double, double*, double*))
#undef __AMDGPU_OCML_UNARY
#undef __AMDGPU_OCML_BINARY
#undef __AMDGPU_OCML
