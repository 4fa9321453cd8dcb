"""Compressors of others through our own verifier: violators are caught, keepers pass."""

from __future__ import annotations

import contextlib
import io
import math
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from kernels import fields
from kernels.records import Array
from kernels.suite import core_suite
from sz_mcp.peers.codecs import Codec, table
from sz_mcp.peers.measure import Passed, Row, Sides, sides, subject_of
from sz_mcp.peers.protocol import fetch, put
from sz_mcp.peers.report import suite_table, troubles
from sz_mcp.peers.report import table as drawn
from sz_mcp.peers.workers import Packed, Restored, Trouble, Worker, give

ROOT = Path(__file__).parents[2]
SZ3 = ("sz3-lorenzo", "sz3", "sz3-interp", "sz3-nopred")
MODULES = {"pysz": "pysz", "zfpy": "zfpy", "numcodecs-wasm-sperr": "numcodecs_wasm_sperr"}


@pytest.fixture(scope="module")
def bout() -> Iterator[Sides]:
    """Every compressor of the table, each started when it is first asked."""
    with sides(tuple(table().values())) as made:
        yield made


def worker(bout: Sides, name: str) -> Worker:
    found = next(one for one in bout.workers if one.codec.name == name)
    package = found.codec.package
    if package and find_spec(MODULES[package]) is None:
        pytest.skip(f"{package} is not installed: pip install 'sz-mcp[peers]'")
    return found


def passed(bout: Sides, name: str, data: Array, bound: float, mode: str = "abs") -> Passed:
    done = bout.once(worker(bout, name), subject_of("case", data, None, mode, bound))
    assert isinstance(done, Passed), done
    return done


def decoded(bout: Sides, name: str, data: Array, bound: float) -> Array:
    """Without comparing."""
    one = worker(bout, name)
    give(bout.files, data)
    packed = one.compress(data, bound)
    assert isinstance(packed, Packed), packed
    back = one.decompress(packed.nbytes, data)
    assert isinstance(back, Restored), back
    return back.array


def waves() -> Array:
    """Like a temperature in K, 256 x 256."""
    x = np.linspace(0, 6, 256)
    return (285 + 10 * np.sin(x)[:, None] * np.cos(x)).astype(np.float32)


@pytest.mark.parametrize(("rel", "violations", "share"), [(1e-4, 862, 1.0039), (1e-2, 1, 1.00006)])
def test_sperr_breaks_its_bound_on_a_real_field(
    bout: Sides, rel: float, violations: int, share: float
) -> None:
    found = passed(bout, "sperr", fields.load("uk_theta").data, rel, "rel").comparison

    assert (found.violations, found.checked) == (violations, 801_108)
    assert found.max_abs_error / found.abs_bound == pytest.approx(share, abs=1e-4)


def test_a_tolerance_of_a_tenth_would_let_sperr_pass(bout: Sides) -> None:
    found = passed(bout, "sperr", fields.load("uk_theta").data, 1e-4, "rel").comparison

    assert found.abs_bound < found.max_abs_error < 1.1 * found.abs_bound


@pytest.mark.parametrize("rel", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("name", [*SZ3, "zfp"])
def test_the_others_keep_theirs_on_it(bout: Sides, name: str, rel: float) -> None:
    assert passed(bout, name, fields.load("uk_theta").data, rel, "rel").comparison.holds


def test_zfp_breaks_its_bound_on_a_huge_range(bout: Sides) -> None:
    rng = np.random.default_rng(0)
    wild = (rng.choice([-1.0, 1.0], 100_000) * 10 ** rng.uniform(-30, 30, 100_000)).astype("f4")

    found = passed(bout, "zfp", wild, 1e-3).comparison

    assert found.violations > 20_000
    assert found.max_abs_error > 1e20


@pytest.mark.parametrize("sentinel", [1e30, 1e35])
def test_zfp_breaks_its_bound_beside_a_sentinel(bout: Sides, sentinel: float) -> None:
    data = waves()
    data[::7, ::5] = sentinel

    found = passed(bout, "zfp", data, 1e-2).comparison

    # The sentinels come back; what shares a block of 4 x 4 with one comes back as 0.
    assert found.violations > 20_000
    assert found.first is not None
    assert (found.first.original, found.first.decoded) == ("285.0", "0.0")


def test_zfp_breaks_its_bound_beside_infinities(bout: Sides) -> None:
    data = waves()
    data[::17, ::13] = np.inf
    finite = np.isfinite(data)

    back = decoded(bout, "zfp", data, 1e-2)

    assert np.abs(back[finite] - data[finite]).max() > 1.0
    assert np.isfinite(back[~finite]).any()
    assert not passed(bout, "zfp", data, 1e-2).comparison.holds


def test_zfp_breaks_its_bound_on_subnormals(bout: Sides) -> None:
    data = (np.random.default_rng(0).integers(-9000, 9000, 20_000) * 1e-45).astype(np.float32)

    assert passed(bout, "zfp", data, 1e-43).comparison.violations > 15_000


def test_zfp_makes_numbers_of_nan_and_that_counts(bout: Sides) -> None:
    data = waves()
    data[::17, ::13] = np.nan

    found = passed(bout, "zfp", data, 1e-2).comparison

    assert found.violations >= np.isnan(data).sum()
    assert found.first is not None
    assert found.first.original == "nan"
    assert math.isfinite(float(found.first.decoded))


def test_an_empty_array_kills_zfp_and_nothing_else(bout: Sides) -> None:
    one = worker(bout, "zfp")
    empty = subject_of("empty", np.zeros(0, np.float32), None, "abs", 1e-3)

    gone = bout.once(one, empty)

    assert isinstance(gone, Trouble)
    assert (gone.kind, gone.message) == ("died", "its process ended (killed by SIGBUS)")
    assert passed(bout, "zfp", waves(), 1e-2).comparison.holds


@pytest.mark.parametrize("name", SZ3)
def test_sz3_keeps_its_bound_on_every_case_it_takes(bout: Sides, name: str) -> None:
    one = worker(bout, name)
    kinds: Counter[str] = Counter()
    for case in core_suite():
        done = bout.once(one, subject_of(case.name, case.data, case.fill_value, "abs", 1e-2))
        if isinstance(done, Trouble):
            assert done.kind == "error"
            assert case.data.ndim == 0 or case.data.size == 0, (case.name, done)
        kinds[type(done).__name__] += 1
        assert isinstance(done, Trouble) or done.comparison.holds, case.name

    assert kinds["Passed"] > 80


@pytest.mark.parametrize("name", SZ3)
def test_sz3_loses_the_sign_of_zero(bout: Sides, name: str) -> None:
    data = np.tile(np.array([0.0, -0.0, 1.0], np.float32), 1000)

    found = passed(bout, name, data, 1e-3).comparison

    assert found.holds
    assert found.zero_signs_changed > 0


def test_sz3_decodes_most_flipped_bits_without_a_word(bout: Sides) -> None:
    rng = np.random.default_rng(3)
    data, one = rng.standard_normal((40, 50, 10)).astype(np.float32), worker(bout, "sz3")
    give(bout.files, data)
    packed = one.compress(data, 8e-3)
    assert isinstance(packed, Packed)
    stream = np.zeros(packed.nbytes, np.uint8)
    fetch(bout.files.stream, stream)
    intact = one.decompress(packed.nbytes, data)
    assert isinstance(intact, Restored)
    wrong = 0
    for bit in rng.integers(0, 8 * stream.size, 300):
        damaged = stream.copy()
        damaged[bit // 8] ^= 1 << (bit % 8)
        put(bout.files.stream, damaged)
        back = one.decompress(packed.nbytes, data)
        wrong += isinstance(back, Restored) and not np.array_equal(back.array, intact.array)

    # 286 here; smooth fields leave less to its entropy coder, and its zstd stage notices more.
    assert wrong > 250


def test_the_end_of_an_sz3_stream_can_be_cut_off_unnoticed(bout: Sides) -> None:
    data, one = waves(), worker(bout, "sz3")
    give(bout.files, data)
    packed = one.compress(data, 1e-2)
    assert isinstance(packed, Packed)

    whole = one.decompress(packed.nbytes, data)
    cut = one.decompress(packed.nbytes - 10, data)

    assert isinstance(whole, Restored)
    assert isinstance(cut, Restored)
    assert np.array_equal(whole.array, cut.array)


def test_a_target_of_sz3s_l2_norm_is_no_bound(bout: Sides) -> None:
    worker(bout, "sz3")
    pysz = pytest.importorskip("pysz")
    config = pysz.szConfig()
    config.errorBoundMode = pysz.szErrorBoundMode.L2NORM
    config.l2normErrorBound = 0.5
    config.cmprAlgo = pysz.szAlgorithm.NOPRED
    # Its bound, the square root of 3 / n times the target, assumes errors of every size up to it.
    # Here all are as large as it is.
    bins = 2 * np.random.default_rng(0).integers(0, 20, 10_000) + 0.9999
    data = (bins * math.sqrt(3 / bins.size) * 0.5).astype(np.float32)

    stream = pysz.sz.compress(data, config)[0]
    back = pysz.sz.decompress(stream, data.dtype, data.shape)[0]

    assert np.linalg.norm(data - back) == pytest.approx(0.866, abs=1e-3)


def test_a_reader_of_zarr_and_all_peers_can_be_installed_together() -> None:
    for module in ("zarr", *MODULES.values()):
        pytest.importorskip(module)
    program = f"import zarr, {', '.join(MODULES.values())}"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def odd(option: str) -> Codec:
    return Codec(option, "odd", "tests.sz_mcp.odd_codecs", option, "nobody")


@pytest.mark.parametrize(
    ("option", "kind", "message"),
    [
        ("crashes", "died", "its process ended (killed by SIGSEGV)"),
        ("exits", "died", "its process ended (exit code 3)"),
        ("raises", "error", "RuntimeError: it does not work (no disk)"),
        ("flat", "error", "decoded is float32[65536], the original float32[256, 256]"),
    ],
)
def test_what_a_compressor_does_to_itself_is_its_row(option: str, kind: str, message: str) -> None:
    subject = subject_of("waves", waves(), None, "abs", 1e-2)

    with sides((odd(option), odd("stored"))) as bout:
        mine, other = bout.rows(subject, 2, lambda _what: None)

    assert mine.trouble == Trouble(kind, message)
    assert mine.ratio is None
    assert other.status == "holds"
    assert len(other.seconds("compress")) == len(other.seconds("decompress")) == 2


def test_a_compressor_that_hangs_is_ended_at_its_deadline() -> None:
    data = waves()[:2, :2]
    with sides((odd("hangs"),)) as bout:
        give(bout.files, data)
        one = Worker(odd("hangs"), bout.files, deadline_s=1.0)

        assert one.compress(data, 1e-2) == Trouble("timeout", "no answer within 1 s")
        assert one.compress(data, 1e-2) == Trouble("timeout", "no answer within 1 s")


def test_processes_that_a_compressor_started_end_with_it() -> None:
    with sides((odd("forks"),)) as bout:
        done = bout.once(bout.workers[0], subject_of("waves", waves(), None, "abs", 1e-2))
        assert isinstance(done, Passed)
        started = [os.pidfd_open(pid) for pid in _of_our_workers()]
    try:
        assert len(started) > 1
        assert all(select.select([one], [], [], 10)[0] for one in started)
    finally:
        for one in started:
            os.close(one)


def _of_our_workers() -> list[int]:
    """Workers of odd compressors that this process started, with what those started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            stat = (process / "stat").read_text().rpartition(")")[2].split()
            leader = Path(f"/proc/{stat[3]}/stat").read_text().rpartition(")")[2].split()
            ours = int(leader[1]) == os.getpid()
            if ours and b"odd_codecs" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def test_a_compressor_that_prints_does_not_wait_for_a_reader() -> None:
    with sides((odd("prints"),)) as bout:
        (row,) = bout.rows(subject_of("waves", waves(), None, "abs", 1e-2), 4, lambda _what: None)

    assert row.status == "holds"


def test_an_error_of_a_tenth_more_than_the_bound_is_a_violation() -> None:
    subject = subject_of("waves", waves(), None, "abs", 1e-2)

    with sides((odd("off"),)) as bout:
        (row,) = bout.rows(subject, 0, lambda _what: None)

    assert row.status == "violates"
    assert row.error_share == pytest.approx(1.1, abs=1e-2)
    assert row.comparison is not None
    assert row.comparison.violations == 65536


def test_a_missing_package_is_named_with_the_remedy() -> None:
    gone = Codec("gone", "not there", "no_such_module", package="nobody")
    subject = subject_of("waves", waves(), None, "abs", 1e-2)

    with sides((gone, odd("stored"))) as bout:
        missing, stored = bout.rows(subject, 1, lambda _what: None)

    assert missing.trouble == Trouble(
        "missing", "No module named 'no_such_module': pip install 'sz-mcp[peers]'"
    )
    assert stored.psnr is None
    assert stored.ratio == pytest.approx(1.0)


def printed(table: Table) -> list[list[str]]:
    """The words of each line."""
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(table)
    return [line.split() for line in console.export_text().splitlines()]


def test_a_table_marks_who_broke_the_bound_and_who_gave_no_result() -> None:
    subject = subject_of("waves", waves(), None, "abs", 1e-2)
    with sides((odd("stored"), odd("off"), odd("exits"))) as bout:
        rows = bout.rows(subject, 1, lambda _what: None)

    lines = {words[2]: words[3:] for words in printed(drawn(rows)) if words[:2] == ["abs", "0.01"]}

    assert lines["stored"][0] == "1.00"
    assert lines["stored"][-2:] == ["0.00000", "0"]
    assert lines["off"][-5:-1] == ["65,536", "of", "65,536", "✗"]
    assert lines["exits"] == ["died"]
    assert troubles(rows) == ("exits: its process ended (exit code 3)",)


def test_a_table_of_the_suite_counts_outcomes_and_names_broken_cases() -> None:
    rows: list[Row] = []
    with sides((odd("off"), odd("flat"))) as bout:
        for name in ("first", "second", "third", "fourth"):
            rows += bout.rows(subject_of(name, waves(), None, "abs", 1e-2), 0, lambda _what: None)

    lines = {words[0]: words[1:] for words in printed(suite_table(rows)) if words}

    assert lines["off"] == ["4", "first,", "second,", "third", "and", "1", "more"]
    assert lines["flat"] == ["4"]
