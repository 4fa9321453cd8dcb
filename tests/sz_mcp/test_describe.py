"""What `describe_arch` and `doctor` say of the real target, its peaks known from before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from kernels.fields.intake import Wish, add
from kernels.fields.registry import Registry
from kernels.records import Bandwidth
from kernels.tasks import TASKS
from sz_mcp.cli.doctor import run as run_doctor
from sz_mcp.describe import all_fields, describe_all, describe_one
from sz_mcp.host import peaks_key
from sz_mcp.replies import DescribeReply
from sz_mcp.texts import text_of
from tests.sz_mcp.fakes import FakePipeline, make_app
from toolchains.base import Cancellation, TargetInfo
from toolchains.children.cores import all_cores
from toolchains.children.pool import Pool
from toolchains.children.timing_lock import timing_lock
from toolchains.numba_cpu import NumbaToolchain
from toolchains.peaks import SIZES, Peaks, PeaksBusy


class Never(AbstractContextManager[None]):
    """A machine that does not come to rest."""

    def __enter__(self) -> None:
        raise PeaksBusy("kernels are being timed")

    def __exit__(self, *_: object) -> None:
        raise AssertionError("it was never entered")


def known(path: Path) -> Path:
    """A file with curves of one thread and of all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    curve = [asdict(Bandwidth(size, 40.0, 90.0, 60.0)) for size in SIZES]
    path.write_text(json.dumps({str(n): curve for n in {1, len(all_cores())}}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(0, 4 << 30)
    yield pool
    pool.close()


def described(pool: Pool, peaks: Peaks) -> TargetInfo:
    return NumbaToolchain(pool, peaks, 4 << 30).describe("numba")


def reply_of(tmp_path: Path, info: TargetInfo, *, detailed: bool) -> DescribeReply:
    app = make_app(tmp_path / "home", FakePipeline())
    try:
        return describe_one(app.engine(), info, "suggest", detailed=detailed)
    finally:
        app.close()


def test_the_concise_text_is_short_and_complete(tmp_path: Path, pool: Pool) -> None:
    info = described(pool, Peaks(known(tmp_path / "p.json"), Never))

    text = text_of(reply_of(tmp_path, info, detailed=False))

    assert len(text) < 3500
    for part in ("hardware: ", "simd_width", "limits: ", "peak copy, GB/s: 40 at 16 KiB", "advice"):
        assert part in text
    assert f"example for task {info.example_task}, kernel.py:" in text


def test_the_whole_curve_is_told_on_request(tmp_path: Path, pool: Pool) -> None:
    info = described(pool, Peaks(known(tmp_path / "p.json"), Never))

    short, long = (reply_of(tmp_path, info, detailed=d) for d in (False, True))

    assert len(short.peaks or []) == 9
    assert len(long.peaks or []) == len(info.peaks) >= 3 * len(SIZES)
    text = text_of(long)
    assert f"40 at {SIZES[-1] >> 20} MiB" in text
    if len(all_cores()) > 1:
        assert f"peak copy by {len(all_cores())} threads, GB/s: " in text


def test_the_example_is_for_a_task_there_is(pool: Pool) -> None:
    (info,) = NumbaToolchain(pool, Peaks(), 4 << 30).targets()

    assert info.example_task in TASKS
    assert len(info.example["kernel.py"].splitlines()) <= 45
    assert info.peaks == ()


def test_a_machine_that_is_timing_says_why_it_has_no_peaks(pool: Pool) -> None:
    info = described(pool, Peaks(alone=Never))

    assert info.peaks == ()
    assert info.notes[-1] == "peaks: kernels are being timed"


def test_doctor_shows_hardware_peaks_and_counters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known(tmp_path / "peaks" / f"{peaks_key()}.json")
    monkeypatch.setenv("COLUMNS", "160")

    # Nothing may be measured: the curves are known.
    with timing_lock(Cancellation()):
        run_doctor(tmp_path)

    shown = capsys.readouterr().out
    for part in ("numba: processor", "numba: hardware", "simd width", "counter: page faults"):
        assert part in shown
    assert "256 MiB" in shown
    assert "█" in shown


def test_a_reply_lists_a_few_fields_however_many_are_registered(tmp_path: Path) -> None:
    values = tmp_path / "values.npy"
    np.save(values, np.arange(8, dtype=np.float32))
    registry = Registry(tmp_path / "home")
    for number in range(40):
        add(registry, values, Wish(name=f"mine-{number}"))
    app = make_app(tmp_path / "home", FakePipeline())

    try:
        reply = describe_all(app.engine(), "suggest")
    finally:
        app.close()

    assert len(app.engine().catalogue.names()) > 40
    assert len(reply.fields) == 24
    assert len(all_fields(app.engine().catalogue)) == len(app.engine().catalogue.names())
