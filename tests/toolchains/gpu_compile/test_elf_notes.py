"""Notes of code objects, from bytes made here: what they say, and what damage does."""

from __future__ import annotations

import struct

import pytest

from tests.toolchains.gpu_compile.hip_sources import LORENZO, build, needs_compiler
from toolchains.gpu_compile.elf_notes import NoteError, read_kernels, unpack

KERNEL = {
    b".name": b"_Z4scanPi", b".vgpr_count": 300, b".agpr_count": 40, b".sgpr_count": 18,
    b".group_segment_fixed_size": 70_000, b".private_segment_fixed_size": 16,
    b".vgpr_spill_count": 3, b".sgpr_spill_count": 2, b".wavefront_size": 64,
    b".max_flat_workgroup_size": 256, b".kernarg_segment_size": 24, b".uses_dynamic_stack": True,
}  # fmt: skip


def packed(value: object) -> bytes:
    """MessagePack of maps, lists, byte strings as str, and numbers."""
    match value:
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int() if value < 128:
            return bytes([value])
        case int():
            return b"\xce" + struct.pack(">I", value)
        case bytes() if len(value) < 32:
            return bytes([0xA0 | len(value)]) + value
        case bytes():
            return b"\xd9" + bytes([len(value)]) + value
        case list():
            return bytes([0x90 | len(value)]) + b"".join(map(packed, value))
        case dict():
            items = b"".join(packed(k) + packed(v) for k, v in value.items())
            return b"\xde" + struct.pack(">H", len(value)) + items
    raise TypeError(value)


def elf(note: bytes, name: bytes = b"AMDGPU\0\0", kind: int = 32) -> bytes:
    """An ELF64 file of one note section."""
    content = struct.pack("<III", 7, len(note), kind) + name + note + b"\0" * (-len(note) % 4)
    header = b"\x7fELF\x02\x01" + b"\0" * 34 + struct.pack("<Q", 64) + b"\0" * 10
    header += struct.pack("<HHH", 64, 1, 0)
    section = struct.pack("<IIQQQQ", 0, 7, 0, 0, 128, len(content)) + b"\0" * 24
    return header.ljust(64, b"\0") + section + content


def test_a_note_tells_what_a_kernel_takes() -> None:
    (kernel,) = read_kernels(elf(packed({b"amdhsa.kernels": [KERNEL]})))

    assert (kernel.symbol, kernel.vgprs, kernel.agprs, kernel.sgprs) == ("_Z4scanPi", 300, 40, 18)
    assert (kernel.lds_bytes, kernel.scratch_bytes, kernel.kernarg_bytes) == (70_000, 16, 24)
    assert (kernel.vgpr_spills, kernel.sgpr_spills) == (3, 2)
    assert (kernel.wavefront, kernel.max_threads, kernel.dynamic_stack) == (64, 256, True)


def test_kernels_come_in_the_order_of_the_note() -> None:
    two = [KERNEL, {**KERNEL, b".name": b"second"}]

    found = read_kernels(elf(packed({b"amdhsa.kernels": two})))

    assert [k.symbol for k in found] == ["_Z4scanPi", "second"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (b"", "not a little-endian ELF64"),
        (b"\x7fELF\x01\x01" + b"\0" * 200, "not a little-endian ELF64"),
        (elf(b"", name=b"GNU\0\0\0\0\0"), "no AMDGPU metadata"),
        (elf(packed({b"amdhsa.version": [1, 2]})), "no amdhsa.kernels"),
        (elf(packed([1, 2, 3])), "no amdhsa.kernels"),
        (elf(packed({b"amdhsa.kernels": [KERNEL]})[:60]), "not MessagePack"),
        (elf(packed({b"amdhsa.kernels": [KERNEL]}))[:100], "cut short"),
        (elf(b"\xc1"), "0xc1"),
        (elf(b"\xdd\xff\xff\xff\xff"), "longer than its bytes"),
        (elf(b"\x91" * 64), "too deep"),
    ],
)
def test_damage_is_an_error_of_ours(wrong: bytes, says: str) -> None:
    with pytest.raises(NoteError, match=says):
        read_kernels(wrong)


def test_every_cut_of_a_code_object_is_read_or_refused() -> None:
    whole = elf(packed({b"amdhsa.kernels": [KERNEL]}))

    for size in range(len(whole) - 3):
        with pytest.raises(NoteError):
            read_kernels(whole[:size])


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\xc0", None), (b"\xff", -1), (b"\xd1\xff\x00", -256), (b"\xcd\x01\x00", 256),
        (b"\xcb" + struct.pack(">d", 0.5), 0.5), (b"\xc4\x02\x00\x01", b"\x00\x01"),
        (b"\xda\x00\x01x", "x"), (b"\xdc\x00\x01\x07", [7]), (b"\x81\xa1k\x90", {"k": []}),
    ],
)  # fmt: skip
def test_messagepack_has_these_forms(raw: bytes, value: object) -> None:
    assert unpack(raw) == value


@needs_compiler
def test_a_real_code_object_is_read() -> None:
    (module,) = build(LORENZO).modules

    (kernel,) = read_kernels(module.code)

    assert kernel.symbol == "lorenzo"
    assert kernel.lds_bytes == 257 * 4
    assert 1 <= kernel.vgprs <= 16
    assert kernel.wavefront == 64
    assert kernel.max_threads == 1024
