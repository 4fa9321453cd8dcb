import pytest

from simulators.wafer.program import Filter, FilterKind, PopMode, Route, Switch
from tests.toolchains.csl.compiling import WSE2, WSE3, block_mistake, clean
from toolchains.csl.evaluation import Options

NORTH, SOUTH, EAST, WEST, RAMP = (1 << port for port in range(5))


def route_of(config: str, options: Options = WSE2, color: int = 3) -> Route:
    before = 'const directions = @import_module("<directions>");'
    text = f"{before} comptime {{ @set_local_color_config(@get_color({color}), {config}); }}"
    (one,) = clean(text, options).color_configs
    assert one.color == color
    return one.route


def config_mistake(config: str, options: Options = WSE2, color: int = 3) -> str:
    found = block_mistake(f"@set_local_color_config(@get_color({color}),\n{config});", options)
    assert found.startswith("2:")
    return found[2:]


def test_routes_are_masks_of_ports() -> None:
    assert route_of(".{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST, RAMP } } }") == Route(
        WEST, EAST | RAMP
    )


def test_one_direction_needs_no_tuple() -> None:
    assert route_of(".{ .routes = .{ .rx = RAMP, .tx = NORTH } }") == Route(RAMP, NORTH)


def test_switches_replace_parts_of_routes() -> None:
    config = """.{ .routes = .{ .rx = WEST, .tx = EAST },
      .switches = .{ .pos1 = .{ .rx = RAMP }, .pos2 = .{ .tx = SOUTH },
        .pos3 = .{ .invalid = true },
        .current_switch_pos = 1, .ring_mode = true, .pop_mode = .{ .pop_on_advance = true } },
      .teardown = true }"""
    assert route_of(config) == Route(
        WEST,
        EAST,
        (Switch(receive=RAMP), Switch(send=SOUTH), Switch(invalid=True)),
        1,
        True,
        PopMode.POP_ON_ADVANCE,
        teardown=True,
    )


def test_filters_have_a_kind_and_numbers() -> None:
    config = """.{ .routes = .{ .rx = WEST, .tx = RAMP },
      .filter = .{ .kind = .{ .range = true }, .min_idx = 3, .max_idx = 7, .fast_mode = true } }"""
    assert route_of(config).filter == Filter(FilterKind.RANGE, min_index=3, max_index=7)


def test_configurations_may_be_values_of_any_struct() -> None:
    text = """
const S = struct { always_pop: bool };
const switches = .{ .pos1 = .{ .rx = RAMP }, .pop_mode = S { .always_pop = true } };
comptime {
  const routes = .{ .rx = [1]direction { EAST }, .tx = [2]direction { WEST, RAMP } };
  @set_local_color_config(@get_color(0), .{ .routes = routes, .switches = switches });
}
"""
    (one,) = clean(text).color_configs
    assert one.route == Route(EAST, WEST | RAMP, (Switch(RAMP),), pop=PopMode.ALWAYS_POP)


def test_vectors_of_directions_are_routes_too() -> None:
    config = """.{ .routes = directions.dirToRxBits(WEST) | directions.TX_RAMP | directions.TX_EAST,
      .switches = .{ .pos1 = directions.RX_RAMP, .pos2 = directions.TX_RAMP, .pos3 = 0 } }"""
    assert route_of(config) == Route(
        WEST, RAMP | EAST, (Switch(receive=RAMP), Switch(send=RAMP), Switch(invalid=True))
    )


def test_colours_can_be_swapped() -> None:
    config = ".{ .routes = .{ .rx = WEST, .tx = EAST, .color_swap_x = true } }"
    assert route_of(config).swap_x == 2


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (".{}", "1 missing-field: the configuration of a colour has routes"),
        (
            ".{ .route = .{ .rx = WEST, .tx = EAST } }",
            "13 unknown-field: the configuration has no field `route` => did you mean `routes`?",
        ),
        (
            ".{ .routes = .{ .rx = .{ WEST, WEST }, .tx = EAST } }",
            "14 duplicate-direction: .rx names WEST twice",
        ),
        (
            ".{ .routes = .{ .rx = 3, .tx = EAST } }",
            "14 type-mismatch: .rx is a direction or several, not a `comptime_int`"
            " => such as .{ EAST, RAMP }",
        ),
        (
            ".{ .routes = 5000 }",
            "14 out-of-range: .routes is no vector of directions: 0x1388"
            " => made of the constants of <directions>",
        ),
        (
            ".{ .routes = .{ .rx = WEST, .tx = EAST }, .switches = .{ .pos2 = .{ .rx = RAMP } } }",
            "55 switch-gap: .pos2 is given without the positions before it",
        ),
        (
            ".{ .routes = .{ .rx = WEST, .tx = EAST },"
            " .switches = .{ .pos1 = .{ .rx = RAMP, .tx = WEST } } }",
            "55 bad-switch: .pos1 changes either .rx or .tx => .pos1 = .{ .rx = RAMP }",
        ),
        (
            ".{ .routes = .{ .rx = WEST, .tx = EAST }, .switches = .{ .current_switch_pos = 4 } }",
            "55 out-of-range: .current_switch_pos is from 0 to 3, not 4",
        ),
        (
            ".{ .routes = .{ .rx = WEST, .tx = EAST },"
            " .switches = .{ .pop_mode = .{ .pop_always = true } } }",
            "55 unknown-field: .pop_mode has no field `pop_always`"
            " => its fields: no_pop, always_pop, pop_on_advance, pop_on_advance_nop",
        ),
        (
            ".{ .routes = .{ .rx = WEST, .tx = EAST }, .filter = .{ .limit1 = 3 } }",
            "53 missing-field: a filter has a kind => .kind = .{ .counter = true }",
        ),
    ],
)
def test_mistakes_of_configurations(config: str, said: str) -> None:
    assert config_mistake(config).startswith(said)


def test_wse3_receives_from_one_direction_at_a_time() -> None:
    config = ".{ .routes = .{ .rx = .{ WEST, NORTH }, .tx = RAMP } }"
    assert route_of(config).receive == WEST | NORTH
    assert config_mistake(config, WSE3) == (
        "14 several-rx: on wse3 a colour receives from one direction at a time,"
        " not from NORTH, WEST"
        " => use one colour for each, or a switch that changes .rx"
    )


def test_some_colours_of_wse3_have_no_switch() -> None:
    config = ".{ .routes = .{ .rx = WEST, .tx = RAMP }, .switches = .{ .pos1 = .{ .rx = RAMP } } }"
    assert config_mistake(config, WSE3, 10).startswith(
        "55 no-switch: colour 10 has no switch on wse3 => colours with one: 0, 1, 2"
    )
    route_of(config, WSE3, 9)


def test_a_colour_is_configured_once() -> None:
    one = "@set_local_color_config(@get_color(1), .{ .routes = .{ .rx = WEST, .tx = RAMP } });"
    assert block_mistake(f"{one}\n{one}") == (
        "2:1 duplicate-color: colour 1 is configured twice at this PE"
    )
