"""Helpers of host programs, names of the package, and the two ends' messages."""

from __future__ import annotations

import socket
import sys

import numpy as np
import pytest

from simulators.wafer import protocol
from tests.simulators.wafer.fake_machine import FakeMachine
from toolchains.child import shims
from toolchains.child.shims.cerebras import _link
from toolchains.child.shims.cerebras._errors import MachineError, NotEmulatedError, SdkRuntimeError
from toolchains.child.shims.cerebras.sdk import client
from toolchains.child.shims.cerebras.sdk.runtime import sdkruntimepybind
from toolchains.child.shims.cerebras.sdk.sdk_utils import (
    calculate_cycles,
    input_array_to_u32,
    memcpy_view,
)


def test_views_write_through_to_the_lower_halves() -> None:
    words = np.zeros((2, 3), np.uint32)
    halves = memcpy_view(words, np.dtype(np.float16))
    assert halves.shape == (2, 3)
    halves[1, 2] = 1.0
    assert words[1, 2] == 0x3C00
    memcpy_view(words, np.float32)[0, 0] = 1.0
    assert words[0, 0] == 0x3F800000


def test_views_of_other_widths_are_refused() -> None:
    with pytest.raises(SdkRuntimeError, match="32-bit elements, not float64"):
        memcpy_view(np.zeros(2), np.float16)
    with pytest.raises(SdkRuntimeError, match="16 or 32 bits, not float64"):
        memcpy_view(np.zeros(2, np.uint32), np.float64)


def test_halves_are_widened_with_zeros_or_with_their_index() -> None:
    halves = np.array([-1, 2, 3, 4], np.int16)
    assert input_array_to_u32(halves, None, 4).tolist() == [0xFFFF, 2, 3, 4]
    assert input_array_to_u32(halves, 1, 2).tolist() == [0xFFFF, 0x10002, 3, 0x10004]
    assert input_array_to_u32(np.array([1.0], np.float32), 0, 1).tolist() == [0x3F800000]
    with pytest.raises(SdkRuntimeError, match="16 or 32 bits"):
        input_array_to_u32(np.zeros(1), 0, 1)


def test_cycles_are_the_difference_of_two_48_bit_stamps() -> None:
    stamps = np.array([0xFFFF, 0, 0, 4, 1, 0], np.uint16).view(np.float32)
    assert calculate_cycles(stamps) == 0x10004 - 0xFFFF


def test_the_package_is_found_by_its_name_with_all_modules() -> None:
    kept = {name: module for name, module in sys.modules.items() if name.startswith("cerebras")}
    try:
        shims.install("cerebras")
        for name in (
            "cerebras.sdk.runtime.sdkruntimepybind",
            "cerebras.sdk.sdk_utils",
            "cerebras.sdk.client",
            "cerebras.sdk.debug.debug_util",
            "cerebras.appliance.pb.sdk.sdk_common_pb2",
        ):
            assert name in sys.modules
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "cerebras"]:
            del sys.modules[name]
        sys.modules.update(kept)


def test_what_the_sdk_has_beside_is_named_as_not_emulated() -> None:
    with pytest.raises(
        NotEmulatedError, match=r"^not emulated: cerebras\.sdk\.client\.SdkLauncher"
    ):
        _ = client.SdkLauncher
    with pytest.raises(AttributeError, match="has no SdkRuntimes"):
        _ = sdkruntimepybind.SdkRuntimes


def test_both_ends_pack_alike() -> None:
    header, payload = {"do": "launch", "text": "é"}, b"\0\1"
    assert _link.pack(header, payload) == protocol.pack(header, payload)
    with pytest.raises(MachineError, match="cut short"):
        _link.unpack(b"")
    with pytest.raises(MachineError, match="another length"):
        _link.unpack(protocol.pack({}) + b"x")


def test_a_machine_that_is_gone_is_an_error(device: FakeMachine) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(MachineError, match="has ended"):
        _link.SocketLink(ours).exchange({"do": "stop"}, b"")
