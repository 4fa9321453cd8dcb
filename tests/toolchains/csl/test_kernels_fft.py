"""<kernels/fft/fft3d_layout> against NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

from simulators.wafer.machine import Machine
from simulators.wafer.profiles import make_profile
from toolchains.csl.compiler import compile_program
from toolchains.csl.evaluation import Options

N = 8
NORMS: dict[int, Literal["backward", "ortho", "forward"]] = {
    0: "backward",
    1: "ortho",
    2: "forward",
}


@dataclass(frozen=True)
class Cube:
    """An FFT of N x N x N on width x width PEs."""

    machine: Machine
    width: int
    dtype: type[np.floating[Any]]

    def address(self, name: str) -> tuple[int, int]:
        regions = self.machine.program.classes[0].regions
        (found,) = (one for one in regions if one.name.split(".")[-1] == name)
        return found.address, found.bytes

    def transformed(
        self, data: npt.NDArray[np.complex64], name: str, *arguments: int
    ) -> npt.NDArray[np.complex64]:
        """data and the result by z, y, x."""
        t = N // self.width
        angles = 2 * np.pi * np.arange(N // 2) / N
        twiddles = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(self.dtype)
        where = [(x, y) for y in range(self.width) for x in range(self.width)]
        at, count = self.address("X")
        for x, y in where:
            block = data[:, y * t : (y + 1) * t, x * t : (x + 1) * t].reshape(-1)
            numbers = np.stack([block.real, block.imag], axis=1).astype(self.dtype)
            self.machine.write(x, y, at, numbers.tobytes())
            self.machine.write(x, y, self.address("twiddle_array")[0], twiddles.tobytes())
        self.machine.launch(name, arguments)
        self.machine.run_ready()
        result = np.zeros_like(data)
        for x, y in where:
            numbers = np.frombuffer(self.machine.read(x, y, at, count), self.dtype)
            block = numbers[::2].astype(np.float32) + 1j * numbers[1::2].astype(np.float32)
            result[:, y * t : (y + 1) * t, x * t : (x + 1) * t] = block.reshape(N, t, t)
        return result


def same(one: npt.NDArray[Any], other: npt.NDArray[Any], rtol: float, atol: float) -> bool:
    """As complex numbers."""
    return bool(np.all(np.abs(one - other) <= atol + rtol * np.abs(other)))


def cube(arch: str, width: int, element: str) -> Cube:
    """A machine with the library's kernel."""
    text = f"""
const memcpy = @import_module("<memcpy/get_params>", .{{ .width = {width}, .height = {width} }});
const fft = @import_module("<kernels/fft/fft3d_layout>", .{{ .width = {width}, .memcpy = memcpy }});
layout {{ @set_rectangle({width}, {width}); fft.FFT_kernel({width}, {N}, {element}); }}
"""
    files = {"layout.csl": text}
    compiled = compile_program("layout.csl", Options(arch), files.__getitem__)
    assert compiled.program is not None, "\n".join(map(str, compiled.diagnostics))
    dtype = np.float16 if element == "f16" else np.float32
    return Cube(Machine(compiled.program, make_profile(arch)), width, dtype)


@pytest.mark.parametrize(("arch", "width"), [("wse3", 2), ("wse2", 4)])
def test_forward_and_inverse_transforms_are_those_of_numpy_in_every_norm(
    arch: str, width: int
) -> None:
    rng = np.random.default_rng(5)
    data = (rng.random((N, N, N)) + 1j * rng.random((N, N, N))).astype(np.complex64)
    made = cube(arch, width, "f32")
    for number, norm in NORMS.items():
        forward = made.transformed(data, "csfftExecC2C", number, 0)
        assert same(forward, np.fft.fftn(data, norm=norm), 1e-4, 1e-4)
        inverse = made.transformed(data, "csfftExecC2C", number, 1)
        assert same(inverse, np.fft.ifftn(data, norm=norm), 1e-4, 1e-4)


def test_transforms_of_halves_and_of_real_data() -> None:
    rng = np.random.default_rng(6)
    data = rng.random((N, N, N)).astype(np.complex64)
    made = cube("wse3", 2, "f16")
    forward = made.transformed(data, "csfftExecR2C", 0)
    assert same(forward, np.fft.fftn(data), 0.02, 0.5)
    back = made.transformed(data, "csfftExecC2R", 0)
    assert same(back, np.fft.ifftn(data), 0.02, 0.002)


def test_one_pe_has_the_whole_cube() -> None:
    rng = np.random.default_rng(7)
    data = rng.random((N, N, N)).astype(np.complex64)
    forward = cube("wse2", 1, "f32").transformed(data, "csfftExecC2C", 1, 0)
    assert same(forward, np.fft.fftn(data, norm="ortho"), 1e-4, 1e-4)
