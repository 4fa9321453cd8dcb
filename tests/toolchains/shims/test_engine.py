"""What a child asks a server for, and what it makes of the answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import toolchains.child.shims.cupy as cp
from kernels.diagnostics import Diagnostic
from simulators.simt.exchange import Described, pack_answer, unpack_request
from simulators.simt.records import (
    Bundle,
    Global,
    KernelInfo,
    ModuleInfo,
    Param,
    Rejected,
    Unsupported,
)
from toolchains.child.shims import install
from toolchains.child.shims.cupy._engine import PROCESS, Asking
from toolchains.child.shims.cupy._errors import CompileException, NotEmulatedError
from toolchains.child.shims.simt.memory import Registry
from toolchains.child.shims.simt.runtime import Kernel

CODE = 'extern "C" __global__ void k(int *x) { x[0] = 1; }'
INFO = ModuleInfo(
    (KernelInfo("k", "k", (Param("x", 8, 8, pointer=True),), 0, 256),),
    (Global("v", "v", 4, 4, constant=True, init=b"\7\0\0\0"),),
)


def test_requests_are_those_of_the_emulator(compiler: Asking) -> None:
    asked: list[bytes] = []

    def ask(request: bytes) -> bytes:
        asked.append(request)
        return compiler._ask(request)

    PROCESS.engine = Asking(ask)
    kernel = cp.RawKernel(CODE, "k", ("-DX",))
    for _ in range(2):
        kernel((1,), (32, 2), (cp.zeros(1, cp.int32),))
    first, second = map(unpack_request, asked)
    assert first.variant is None
    assert first.source.options == ("-DX", "--std=c++17")
    assert second.variant is not None
    assert (second.variant.block, second.variant.hooks) == ((32, 2, 1), "none")


def test_a_described_module_is_used_without_compiling_it() -> None:
    PROCESS.engine = Asking(lambda _: pack_answer(Described(INFO)))
    module = cp.RawModule(code=CODE)
    assert module.get_function("k").max_threads_per_block == 256
    assert cp.ndarray((), cp.int32, module.get_global("v")) == 7


def test_a_rejected_module_is_an_exception_with_diagnostics() -> None:
    said = Rejected((Diagnostic("error", "no", "a.cu", 3),))
    PROCESS.engine = Asking(lambda _: pack_answer(said))
    with pytest.raises(CompileException, match=r"a\.cu\(3\): error: no"):
        cp.RawKernel(CODE, "k").compile()


def test_an_unsupported_kernel_is_an_exception_with_the_reason() -> None:
    PROCESS.engine = Asking(lambda _: pack_answer(Unsupported("recursion", 12)))
    with pytest.raises(NotEmulatedError, match=r"not emulated: recursion at .*\(12\)"):
        cp.RawKernel(CODE, "k").compile()


@dataclass
class Recorder:
    """A launcher that only notes what kernels may touch."""

    registry: Registry
    seen: list[tuple[int, int]]

    def launch(self, *_: object) -> None:
        self.seen += [(address, size) for address, (size, _) in self.registry._arrays.items()]


def test_checked_kernels_are_told_every_array_and_variable() -> None:
    recorder = Recorder(Registry(), [])
    kernel = Kernel({"hooks": "checked"}, None, None)
    answers = iter([pack_answer(Described(INFO)), pack_answer(Bundle({}, b""))])
    PROCESS.engine = Asking(
        lambda _: next(answers),
        lambda _meta, _code: kernel,
        launcher=recorder,  # type: ignore[arg-type]
    )
    module, x = cp.RawModule(code=CODE), cp.zeros(3, cp.int32)
    module.get_function("k")((1,), (32,), (x,))
    assert (x.data.ptr, 12) in recorder.seen
    assert (module.get_global("v").ptr, 4) in recorder.seen


@pytest.fixture
def _same_modules() -> Iterator[None]:
    """What a test makes importable is not for the next."""
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("_same_modules")
def test_programs_import_it_by_its_public_name() -> None:
    install("cupy")
    import cupy  # noqa: PLC0415
    from cupy.cuda import Stream, runtime  # noqa: PLC0415

    assert cupy is cp
    assert Stream is cp.cuda.Stream
    assert runtime is cp.cuda.runtime
