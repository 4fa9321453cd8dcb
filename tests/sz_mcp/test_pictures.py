"""Pictures: real PNGs of a readable size, whatever the figures."""

from __future__ import annotations

import struct
from dataclasses import replace

from kernels.records import Bandwidth, Bound, Metric, Profile, Status
from sz_mcp.pictures import Attempt, draw_attempts, draw_profile


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def profile(*metrics: Metric) -> Profile:
    bound = Bound("rel", 1e-3, 0.01)
    return Profile(Status.ROUNDTRIPS, None, "uk_theta", bound, metrics, "half of it in `pack`")


def test_a_profile_grows_with_its_phases_up_to_a_limit() -> None:
    def phases(n: int) -> Profile:
        return profile(*(Metric(f"phase.compress.f{i}", 1e-3, "s", "reported") for i in range(n)))

    few, many, most = (size_of(draw_profile(phases(n))) for n in (2, 9, 90))

    assert few[0] == many[0] == most[0] > 800
    assert few[1] < many[1] < most[1] < 800


def test_a_profile_without_phases_or_speeds_is_drawn() -> None:
    assert size_of(draw_profile(profile()))[0] > 800


def moved(gbps: float) -> Profile:
    metrics = (
        Metric("compress.moved_bytes", 4e6, "bytes", "measured"),
        Metric("compress.moved_bandwidth", gbps, "GB/s", "measured"),
        Metric("compress.share_of_copy_peak", gbps / 80, "", "derived"),
    )
    peaks = tuple(Bandwidth(1 << k, 90.0 - 3 * k, 200.0 - 6 * k, 99.0) for k in range(14, 29))
    return replace(profile(*metrics), peaks=peaks)


def test_functions_are_drawn_against_the_bandwidths_of_the_machine() -> None:
    slow, fast, alone = (
        draw_profile(moved(2.0)),
        draw_profile(moved(40.0)),
        draw_profile(replace(moved(2.0), peaks=())),
    )

    assert len({size_of(png) for png in (slow, fast, alone)}) == 1
    assert len({slow, fast, alone}) == 3


def test_attempts_without_figures_are_drawn() -> None:
    attempts = [Attempt("broken", None, None, None, None), Attempt("fine", 4.5, 2.0, 3.0, 0.999)]

    assert size_of(draw_attempts(attempts, "two attempts"))[0] > 1000
