"""The picture of a wafer profile: one map per cause and one of the traffic."""

from __future__ import annotations

from dataclasses import replace

from kernels.records import Bound, HeatMap, Profile, Status
from sz_mcp.wafer_pictures import draw_profile
from tests.sz_mcp.test_pictures import size_of


def _profile(count: int, share: float = 0.5) -> Profile:
    maps = tuple(HeatMap(f"run: {n}", ((share, 0.0), (0.0, 1.0))) for n in range(count))
    bound = Bound("rel", 1e-3, 0.1)
    return Profile(Status.TIMED, None, "uk_theta", bound, (), "PEs spend 50% compute", maps=maps)


def test_every_map_has_its_place_and_shows_its_numbers() -> None:
    four, five = (size_of(draw_profile(_profile(count))) for count in (4, 5))

    assert five[0] == four[0]
    assert five[1] > four[1]
    assert draw_profile(_profile(5, 0.1)) != draw_profile(_profile(5, 0.9))


def test_each_function_has_its_column() -> None:
    one = _profile(3)
    both = replace(one, maps=(*one.maps, *(replace(m, name=f"back{m.name}") for m in one.maps)))

    # Two columns fit the width that one has to have.
    assert size_of(draw_profile(both)) == size_of(draw_profile(one))
    assert draw_profile(both) != draw_profile(one)


def test_a_profile_without_maps_still_says_its_bottleneck() -> None:
    assert size_of(draw_profile(_profile(0)))[0] > 400
