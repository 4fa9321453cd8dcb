"""What an emulated GPU finds wrong is explained, on the messages that the emulator writes."""

from __future__ import annotations

import pytest

from kernels.records import Failure, FailureKind, Status
from toolchains.child.shims.cupy._errors import NotEmulatedError, invalid_value
from toolchains.child.shims.simt.abi import Status as Code
from toolchains.child.shims.simt.errors import error_of
from toolchains.feedback import guidance_for
from toolchains.feedback.order_rules import RULES


def _said(code: Code, *more: int) -> str:
    detail = [7, 0, 3, *more, *[0] * 3][:6]
    return f"SimtError: {error_of('scan', (4, 1, 1), (256, 1, 1), code, detail)}"


MESSAGES = {
    "not-emulated": f"NotEmulatedError: {NotEmulatedError('cupy.fft.fft')}",
    "divergent-barrier": _said(Code.DIVERGENT, 9, 4),
    "warp-mask-lanes": _said(Code.MASK, 0xFF),
    "outside-every-array": _said(Code.OUT_OF_BOUNDS, 0x1000, 4, 1),
    "launch-waits": _said(Code.STOPPED),
    "fixed-width": "CompileException: d.hip(2): error: unknown type name 'uint32_t'; did you mean",
    "header-not-emulated": "CompileException: d.cu(1): error: 'mma.h' file not found",
    "inline-assembly": "CompileException: d.cu(4): error: inline PTX isn't known here: bfind.u32",
    "builtin-not-emulated": "CompileException: d.hip(5): error: use of undeclared identifier "
    "'__builtin_amdgcn_mbcnt_lo'; did you mean '__builtin_amdgcn_ubfe'?",
    "device-code": "CompileException: d.cu(7): error: call to member function 'f' is ambiguous",
    "argument-count": "TypeError: d has 3 parameters (q, codes, n), 2 arguments were given",
    "numpy-argument": "TypeError: You are trying to pass a numpy.ndarray of shape (1680,) as a "
    "kernel parameter. Only numpy.ndarrays of size one can be passed by value.",
    "launch-limits": f"CUDADriverError: {invalid_value('d: 100000 bytes of dynamic')}",
    "kernel-name": "CUDADriverError: CUDA_ERROR_NOT_FOUND: named symbol not found: no kernel dd",
    "host-arrays": "TypeError: Implicit conversion to a NumPy array is not allowed. Please use",
    "cupy-name": "AttributeError: module 'cupy' has no attribute 'cumsumm'",
    "module-not-here": "ModuleNotFoundError: No module named 'torch'",
    "argument-size": "TypeError: k: argument 3 (n) is the float 1.5, but the parameter is an "
    "integer of 4 bytes; pass numpy.int32(n) or numpy.uint32",
}
SAME = {
    "divergent-barrier": (_said(Code.DEADLOCK), _said(Code.DEADLOCK, 9, 4, 0xFF)),
    "outside-every-array": (_said(Code.MISALIGNED, 0x1001, 4, 0),),
}


def _rule(kind: FailureKind, message: str) -> str:
    failure = Failure(Status.ERROR, Status.TERMINATES, kind, message)
    (guidance,) = guidance_for(failure, "cuda:sm_90")
    assert guidance_for(failure, "rocm:gfx942") == (guidance,)
    return guidance.rule


@pytest.mark.parametrize("rule", MESSAGES)
def test_what_the_emulator_raises_is_explained(rule: str) -> None:
    for message in (MESSAGES[rule], *SAME.get(rule, ())):
        assert _rule(FailureKind.EXCEPTION, message) == rule


def test_a_result_that_depends_on_the_order_is_explained() -> None:
    message = "run depends on the order in which threads run: 3 of 6 elements of output 0 differ"
    assert _rule(FailureKind.ORDER, message) == "thread-order"


def test_a_process_that_ended_or_does_not_is_explained() -> None:
    ended = "the kernel's process ended: its process was ended by SIGSEGV"
    assert _rule(FailureKind.CRASH, ended) == "device-crash"
    late = "it did not finish before its deadline and was killed, in a loop of plain Python"
    assert _rule(FailureKind.TIMEOUT, late) == "host-loop"


def test_every_rule_has_a_message() -> None:
    others = {"thread-order", "device-crash", "host-loop"}
    assert {rule.name for rule in RULES} == {*MESSAGES, *others}
