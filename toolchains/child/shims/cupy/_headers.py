"""Device headers that programs include by CuPy's names, and those of generated kernels."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.M)
_FOLDER = re.compile(r"(?:-I|--include-path=)(.+)")

COMPLEX = """\
#pragma once

namespace thrust {

template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T re, im;
    __host__ __device__ complex(T r = T(), T i = T()) : re(r), im(i) {}
    template <class U>
    __host__ __device__ complex(const complex<U> &z) : re(T(z.re)), im(T(z.im)) {}
    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
    __host__ __device__ void real(T r) { re = r; }
    __host__ __device__ void imag(T i) { im = i; }
    __host__ __device__ complex &operator+=(const complex &z)
    {
        re += z.re, im += z.im;
        return *this;
    }
    __host__ __device__ complex &operator-=(const complex &z)
    {
        re -= z.re, im -= z.im;
        return *this;
    }
    __host__ __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
    __host__ __device__ complex &operator/=(const complex &z) { return *this = *this / z; }
    // As friends, so that a plain number on either side is converted.
    friend __host__ __device__ complex operator+(complex a, const complex &b) { return a += b; }
    friend __host__ __device__ complex operator-(complex a, const complex &b) { return a -= b; }
    friend __host__ __device__ complex operator*(const complex &a, const complex &b)
    {
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    friend __host__ __device__ complex operator/(const complex &a, const complex &b)
    {
        T scale = ::fabs(b.re) + ::fabs(b.im), r = b.re / scale, i = b.im / scale;
        T below = (r * r + i * i) * scale;
        return complex((a.re * r + a.im * i) / below, (a.im * r - a.re * i) / below);
    }
    friend __host__ __device__ complex operator-(const complex &a) { return complex(-a.re, -a.im); }
    friend __host__ __device__ complex operator+(const complex &a) { return a; }
    friend __host__ __device__ bool operator==(const complex &a, const complex &b)
    {
        return a.re == b.re && a.im == b.im;
    }
    friend __host__ __device__ bool operator!=(const complex &a, const complex &b)
    {
        return !(a == b);
    }
};

template <class T> __host__ __device__ T real(const complex<T> &z) { return z.re; }
template <class T> __host__ __device__ T imag(const complex<T> &z) { return z.im; }
template <class T> __host__ __device__ complex<T> conj(const complex<T> &z)
{
    return complex<T>(z.re, -z.im);
}
template <class T> __host__ __device__ T norm(const complex<T> &z)
{
    return z.re * z.re + z.im * z.im;
}
template <class T> __host__ __device__ T abs(const complex<T> &z) { return T(::hypot(z.re, z.im)); }
template <class T> __host__ __device__ T arg(const complex<T> &z) { return T(::atan2(z.im, z.re)); }
template <class T> __host__ __device__ complex<T> polar(T length, T angle)
{
    return complex<T>(T(length * ::cos(angle)), T(length * ::sin(angle)));
}
template <class T> __host__ __device__ complex<T> exp(const complex<T> &z)
{
    return polar(T(::exp(z.re)), z.im);
}
template <class T> __host__ __device__ complex<T> log(const complex<T> &z)
{
    return complex<T>(T(::log(abs(z))), arg(z));
}
template <class T> __host__ __device__ complex<T> sqrt(const complex<T> &z)
{
    return polar(T(::sqrt(abs(z))), T(arg(z) / 2));
}

}  // namespace thrust

using thrust::complex;
using thrust::conj;
using thrust::norm;
using thrust::polar;
"""
"""`cupy/complex.cuh`: complex numbers by the names that CuPy's documentation uses."""

CARRAY = """\
#pragma once
typedef long long simt_index;

// An array of N axes; strides are in bytes.
template <class T, int N, bool CONTIGUOUS> struct CArray {
    static const int ndim = N;
    T *data_;
    simt_index size_, shape_[N > 0 ? N : 1], strides_[N > 0 ? N : 1];
    __device__ simt_index size() const { return size_; }
    __device__ const simt_index *shape() const { return shape_; }
    __device__ const simt_index *strides() const { return strides_; }
    __device__ T &at(simt_index bytes) const
    {
        return *(T *)((const char *)data_ + bytes);
    }
    // Element i in C order.
    template <class I> __device__ T &operator[](I i) const
    {
        if (CONTIGUOUS)
            return data_[i];
        simt_index rest = i, bytes = 0;
        for (int axis = N - 1; axis > 0; axis--) {
            bytes += rest % shape_[axis] * strides_[axis];
            rest /= shape_[axis];
        }
        return at(N > 0 ? bytes + rest * strides_[0] : 0);
    }
    template <class I> __device__ T &operator[](const I (&indices)[N > 0 ? N : 1]) const
    {
        simt_index bytes = 0;
        for (int axis = 0; axis < N; axis++)
            bytes += indices[axis] * strides_[axis];
        return at(bytes);
    }
};

// The shape that is looped over, and where a loop is.
template <int N> struct CIndexer {
    simt_index size_, shape_[N > 0 ? N : 1], index_[N > 0 ? N : 1];
    __device__ simt_index size() const { return size_; }
    __device__ const simt_index *shape() const { return shape_; }
    __device__ void set(simt_index i)
    {
        for (int axis = N - 1; axis > 0; axis--) {
            index_[axis] = i % shape_[axis];
            i /= shape_[axis];
        }
        index_[0] = i;
    }
    __device__ const simt_index (&get() const)[N > 0 ? N : 1] { return index_; }
};
"""
"""Arrays and indices as the bodies of elementwise and reduction kernels use them."""

FLOAT16 = """\
#pragma once
#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif
typedef __half float16;
"""
"""`cupy/float16.cuh`: halves by CuPy's name."""

_FILES: Mapping[str, str] = {
    "cupy/complex.cuh": COMPLEX,
    "cupy/carray.cuh": CARRAY,
    "cupy/float16.cuh": FLOAT16,
}


def headers(code: str, folders: Iterable[Path]) -> dict[str, str]:
    """Those that the code includes, and those that they include: from here, or from folders.

    NVRTC looks for them in the working folder and where -I says; what is nowhere is left to the
    compiler, which has CUDA's own.
    """
    found: dict[str, str] = {}
    waiting = _INCLUDE.findall(code)
    while waiting:
        name = waiting.pop()
        text = _FILES.get(name) or _read(name, folders)
        if name not in found and text:
            found[name] = text
            waiting += _INCLUDE.findall(text)
    return found


def _read(name: str, folders: Iterable[Path]) -> str:
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):
            return (folder / name).read_text()
    return ""


def without_folders(options: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Options, and the folders of headers among them, which only this process can read."""
    kept, folders = [], []
    rest = iter(options)
    for one in rest:
        if one in ("-I", "--include-path"):
            folders.append(Path(next(rest, "")))
        elif found := _FOLDER.match(one):
            folders.append(Path(found[1]))
        else:
            kept.append(one)
    return kept, folders
