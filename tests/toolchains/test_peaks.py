"""Measured bandwidths: remembered in the process and in the home, and the best that was seen."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

import pytest

from kernels.records import Bandwidth
from toolchains.peaks import SHARED_FROM, SIZES, Peaks, PeaksBusy


class Never(AbstractContextManager[None]):
    """A machine that does not come to rest."""

    def __enter__(self) -> None:
        raise PeaksBusy("kernels are being timed")

    def __exit__(self, *_: object) -> None:
        raise AssertionError("it was never entered")


def stored(path: Path, gbps: float, threads: int = 1) -> Path:
    """A file of curves in which every speed is `gbps`."""
    curve = [asdict(Bandwidth(size, gbps, gbps, gbps)) for size in SIZES]
    path.write_text(json.dumps({str(threads): curve}), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_curve_is_measured_once_and_kept_in_the_home(tmp_path: Path) -> None:
    path = tmp_path / "peaks" / "here.json"

    measured = Peaks(path).curve()
    again = Peaks(path, Never).curve()

    assert [b.nbytes for b in measured] == list(SIZES)
    assert all(min(b.copy_gbps, b.read_gbps, b.write_gbps) > 0 for b in measured)
    assert again == measured
    assert [p.name for p in path.parent.iterdir()] == ["here.json"]


def test_a_known_curve_needs_no_rest(tmp_path: Path) -> None:
    peaks = Peaks(stored(tmp_path / "p.json", 7.0), Never)

    assert {b.copy_gbps for b in peaks.curve()} == {7.0}


def test_without_rest_nothing_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "p.json"

    with pytest.raises(PeaksBusy, match="timed"):
        Peaks(path, Never).curve()
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", '{"1": 3}', '{"1": [{"nbytes": 16384}]}', '{"x": []}'])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(PeaksBusy):
        Peaks(path, Never).curve()


def test_an_impossible_speed_in_the_file_is_not_believed(tmp_path: Path) -> None:
    with pytest.raises(PeaksBusy):
        Peaks(stored(tmp_path / "p.json", -1.0), Never).curve()


def test_the_best_that_was_ever_seen_counts(tmp_path: Path) -> None:
    high, low = stored(tmp_path / "high.json", 9e5), stored(tmp_path / "low.json", 1e-9)

    assert Peaks(high).at(SIZES[0]).read_gbps == 9e5
    assert Peaks(low).at(SIZES[0]).read_gbps > 1e-3


def test_what_is_seen_later_makes_a_kept_curve_better(tmp_path: Path) -> None:
    path = stored(tmp_path / "p.json", 1e-9)

    Peaks(path).at(SIZES[0])

    better, same = Peaks(path, Never).curve()[:2]
    assert better.copy_gbps > 1e-3
    assert same.copy_gbps == 1e-9


@pytest.mark.slow
def test_several_threads_do_at_least_what_one_does(tmp_path: Path) -> None:
    peaks = Peaks(stored(tmp_path / "p.json", 9e5))

    assert {b.read_gbps for b in peaks.curve(2)} == {9e5}


def test_sizes_are_rounded_up_and_measured_once() -> None:
    peaks = Peaks()

    first = peaks.at(5000)

    assert first.nbytes == 8192
    assert peaks.at(8192) is first
    assert peaks.at(0).nbytes == 4096


def test_several_threads_are_measured_where_that_is_worth_it(tmp_path: Path) -> None:
    path = stored(tmp_path / "p.json", 3.0, threads=2)

    curve = Peaks(path, Never).curve(2)

    assert [b.nbytes for b in curve] == [size for size in SIZES if size >= SHARED_FROM]


def test_a_peak_that_is_doubted_is_measured_again_and_at_the_size_below(tmp_path: Path) -> None:
    path = stored(tmp_path / "p.json", 1e-9)
    peaks = Peaks(path)
    first = peaks.at(40_000)
    path.write_text("{}", encoding="utf-8")

    doubted = peaks.doubted(40_000)

    assert doubted.nbytes == first.nbytes == 65536
    assert doubted.read_gbps >= first.read_gbps
    assert doubted.write_gbps >= first.write_gbps
    kept = {b["nbytes"]: b["read_gbps"] for b in json.loads(path.read_text())["1"]}
    assert kept[32768] > 1e-3


def test_a_peak_that_was_seen_is_not_lowered_by_a_doubt(tmp_path: Path) -> None:
    assert Peaks(stored(tmp_path / "p.json", 9e5)).doubted(SIZES[0]).read_gbps == 9e5
