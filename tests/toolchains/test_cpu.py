"""What is told of a processor, on machines that tell more or less."""

from __future__ import annotations

from pathlib import Path

from toolchains.cpu import Cache, inspect_cpu, this_cpu


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")
    return root


def talkative(root: Path) -> Path:
    """Two cores with two threads each; a data and an instruction cache, and a shared one."""
    files = {"proc/cpuinfo": "processor\t: 0\nmodel name\t: Abacus 9000"}
    for cpu in range(4):
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = "0"
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/core_id"] = str(cpu // 2)
    for index, (level, kind, size, shared) in enumerate(
        (
            ("1", "Data", "48K", "0-1"),
            ("1", "Instruction", "32K", "0-1"),
            ("3", "Unified", "2M", "0,2-3"),
        )
    ):
        folder = f"sys/devices/system/cpu/cpu0/cache/index{index}"
        values = {"level": level, "type": kind, "size": size, "shared_cpu_list": shared}
        files |= {f"{folder}/{name}": value for name, value in values.items()}
    return write(root, files)


def test_cores_caches_and_vectors_are_read(tmp_path: Path) -> None:
    cpu = inspect_cpu(talkative(tmp_path), "abacus", {"avx2": True, "sse2": True, "avx512f": False})

    assert (cpu.model, cpu.physical, cpu.simd_bits) == ("Abacus 9000", 2, 256)
    assert cpu.caches == (Cache("L1d", 48 << 10, 2), Cache("L3", 2 << 20, 3))
    assert cpu.isa == ("avx2",)
    assert cpu.missing == ()
    told = {metric.name: metric.value for metric in cpu.metrics()}
    assert told["L1d_cache"] == 48
    assert told["simd_width"] == 256
    assert told["physical_cores"] == 2


def test_what_a_machine_hides_is_named_with_the_reason(tmp_path: Path) -> None:
    cpu = inspect_cpu(tmp_path, "unknown", {})

    assert (cpu.physical, cpu.simd_bits, cpu.caches) == (None, None, ())
    assert [note.partition(":")[0] for note in cpu.missing] == [
        "physical cores",
        "cache sizes",
        "SIMD width",
    ]
    assert not {"physical_cores", "simd_width"} & {metric.name for metric in cpu.metrics()}


def test_odd_texts_in_the_file_system_are_no_caches(tmp_path: Path) -> None:
    folder = "sys/devices/system/cpu/cpu0/cache/index0"
    root = write(tmp_path, {f"{folder}/level": "1", f"{folder}/size": "big"})

    assert inspect_cpu(root, "", {}).caches == ()


def test_this_machine_has_cores_memory_and_a_vector_width() -> None:
    cpu = this_cpu()

    assert cpu.logical >= 1
    assert cpu.memory_bytes > 1 << 28
    assert cpu.simd_bits in (128, 256, 512)
    assert cpu.notes()[0].startswith(cpu.model)
