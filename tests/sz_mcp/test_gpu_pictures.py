"""The picture of a modelled profile."""

from kernels.records import Bound, Metric, Profile, Status
from sz_mcp.gpu_pictures import draw_profile

PNG = b"\x89PNG"


def _profile(*metrics: tuple[str, float]) -> Profile:
    return Profile(
        Status.BOUND_OK,
        Status.TIMED,
        "field",
        Bound("abs", 0.1, 0.1),
        tuple(Metric(name, value, "", "modelled") for name, value in metrics),
        "a sentence " * 40,
    )


def test_kernels_are_drawn_with_times_and_shares() -> None:
    few = _profile(
        ("launches[a]", 1), ("least_time[a]", 2.0), ("moved_bytes[a]", 1e6),
        ("sector_bytes[a]", 8e6), ("coalescing[a]", 0.125), ("bank_passes[a]", 32),
        ("active_lanes[a]", 1), ("sectors_per_request[k.cu:3 load]", 32),
    )  # fmt: skip
    picture = draw_profile(few)
    assert picture.startswith(PNG)
    assert len(picture) > 10_000
    assert picture != draw_profile(_profile(("launches[a]", 1)))


def test_a_profile_without_kernels_is_drawn_too() -> None:
    assert draw_profile(_profile()).startswith(PNG)
