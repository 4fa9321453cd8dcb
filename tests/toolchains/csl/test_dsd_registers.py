import pytest

from simulators.wafer.program import FifoAction
from tests.toolchains.csl.compiling import WSE2, WSE3, tile_of
from tests.toolchains.csl.dsds import AROUND, NEW2, NEW3, code, dsd, mistake, tile_with
from toolchains.csl import tree
from toolchains.csl.evaluation import Options
from toolchains.csl.lower import lower_tile
from toolchains.csl.lower.places import PlaceTable
from toolchains.csl.source import Reports

# --- changing DSDs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("@set_dsd_length(A, 4)", "MEMORY &a+0 4 by 1 wide"),
        ("@set_dsd_length(OUT, 4)", "FABRIC_OUT q3 c2 o0 4 by 1"),
        ("@set_dsd_stride(A, -2)", "MEMORY &a+0 10 by -2 wide"),
        ("@increment_dsd_offset(A, 3, f32)", "MEMORY &a+12 10 by 1 wide"),
        ("@increment_dsd_offset(A, -3, i16)", "MEMORY &a+-6 10 by 1 wide"),
        ("@set_dsd_base_addr(A, b)", "MEMORY &b+0 10 by 1 wide"),
        ("@set_dsd_base_addr(A, &b[2])", "MEMORY &b+8 10 by 1 wide"),
        ("@set_dsd_base_addr(A, &h)", "MEMORY &h+0 10 by 1"),
        (
            "@set_dsd_length(@increment_dsd_offset(@set_dsd_base_addr(A, b), 1, f32), 2)",
            "MEMORY &b+4 2 by 1 wide",
        ),
    ],
)
def test_known_dsds_are_changed_while_compiling(expression: str, text: str) -> None:
    assert dsd(expression) == text
    assert not tile_of(f"{AROUND} const changed = {expression};")[1]


def test_others_are_changed_by_code() -> None:
    before = "var d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> a[i] }); var q: i8 = 1;"
    statements = (
        "d = @set_dsd_length(d, u); d = @set_dsd_stride(d, q);"
        " d = @increment_dsd_offset(d, n, f32); d = @increment_dsd_offset(d, 2, f16);"
        " d = @set_dsd_base_addr(d, &b); d = @set_dsd_length(A, u);"
    )
    assert code(statements, before=before) == (
        "@d = update(@d, EXTENT=@u); @d = update(@d, STRIDE=@q);"
        " @d = update(@d, ADVANCE_4=@n); @d = update(@d, ADVANCE_2=2:i16);"
        " @d = update(@d, BASE=&b+0:*[10]f32);"
        " @d = update(MEMORY &a+0 10 by 1 wide, EXTENT=@u);"
    )


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("var d = @set_dsd_length(a, 4);", "1:25 type-mismatch: @set_dsd_length takes a `mem1d_d"),
        ("var d = @set_dsd_length(A, 70000);", "1:28 value-range: 70000 does not fit `u16`"),
        ("var d = @set_dsd_length(A, n);", "1:28 type-mismatch: expected `u16`, found `i16`"),
        ("var d = @set_dsd_stride(A, 128);", "1:28 value-range: 128 does not fit `i8`"),
        (
            "var d = @set_dsd_base_addr(IN, a);",
            "1:28 type-mismatch: @set_dsd_base_addr takes a `mem1d_dsd` or `mem4d_dsd`, not a"
            " `fabin_dsd` => a DSD of the fabric has no place in memory",
        ),
        (
            "var d = @set_dsd_base_addr(A, s);",
            "1:31 type-mismatch: the new base is a pointer, not a `f32` => &a",
        ),
        (
            "var d = @set_dsd_base_addr(A, bytes);",
            "1:31 element-type: a DSD has elements of 16 or 32 bits, not of type `u8`",
        ),
        ("var d = @increment_dsd_offset(A, u, f32);", "1:34 type-mismatch: expected `i16`, found"),
        ("var d = @increment_dsd_offset(A, 1, u8);", "1:37 element-type: a DSD has elements of"),
    ],
)
def test_changes_that_do_not_fit_are_explained(statement: str, said: str) -> None:
    assert mistake(statement).startswith(said)


def test_the_length_of_several_dimensions_is_fixed() -> None:
    before = "const M = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{4, 6} -> m[i, j] });"
    found = mistake("var d = @set_dsd_length(M, 4);", before=before)
    assert found.endswith("=> its extents and strides are fixed: make another with @get_dsd")


# --- DSRs ----------------------------------------------------------------------------------------


def _load(statement: str, options: Options = WSE2, before: str = "") -> tree.LoadDsr:
    tile = tile_with(statement, options, before)
    (found,) = [one for one in tile.functions if one.name == "f"]
    effect = found.body[0]
    assert isinstance(effect, tree.Effect)
    assert isinstance(effect.value, tree.LoadDsr)
    return effect.value


QUEUE = "comptime { @initialize_queue(@get_input_queue(2), .{ .color = @get_color(1) }); }"


def test_dsrs_are_loaded() -> None:
    made = _load("@load_to_dsr(S1, IN, .{ .async = true, .activate = id });", before=QUEUE)
    assert (made.dsr.kind, made.dsr.number) == ("dsr_src1", 2)
    assert (made.behaviour.asynchronous, made.behaviour.completion_id) == (True, 9)
    assert _load("@load_to_dsr(D0, A, .{ .save_address = true });").behaviour.save_address
    assert _load("@load_to_dsr(D0, A, .{ .single_step = true });").behaviour.single_step
    fast = "@load_to_dsr(D0, OUT, .{ .async = true, .ut_id = @get_ut_id(3) });"
    assert _load(fast, WSE3).behaviour.microthread == 3


def test_dsrs_of_circular_buffers_and_several_dimensions() -> None:
    before = (
        "const C = @get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 30, .wraparound = 10 });"
        " const M = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{4, 6} -> m[i, j] });"
    )
    assert _load("@load_to_dsr_xdsr(S0, @get_xdsr(1), C);", NEW2, before).dsr.number == 1
    two = "@load_to_dsr_xdsr_sr(S0, @get_xdsr(1), .{ @get_sr(0) }, M);"
    assert _load(two, NEW2, before).dsr.kind == "dsr_src0"
    none = "@load_to_dsr_xdsr_sr(S0, @get_xdsr(1), .{}, M);"
    assert mistake(none, NEW2, before) == (
        "1:40 sr-count: this DSD takes 1 status registers, not 0"
    )
    assert _load("@load_to_dsr(S0, M);", WSE2, before.split(";")[1] + ";").dsr.number == 1


def test_a_dsr_gets_another_base() -> None:
    assert code("@set_dsr_base_addr(S1, &b);") == "SET_DSR_BASE(34:u16, &b+0:*[10]f32);"


def test_fifo_dsrs_are_made_of_others() -> None:
    assert not tile_of("const d = @get_dsr(dsr_fifo_dest, @get_dsr(dsr_dest, 3));")[1]
    assert tile_of("const d = @get_dsr(dsr_fifo_dest, @get_dsr(dsr_src1, 3));")[1] == [
        "1:35 type-mismatch: a `dsr_fifo_dest` is made of a `dsr_dest`, not of a `dsr_src1`"
    ]


@pytest.mark.parametrize(
    ("options", "statement", "said"),
    [
        (
            WSE2,
            "@load_to_dsr(D0, IN);",
            "1:18 dsr-direction: a `fabin_dsd` is a source, and a `dsr_dest` a destination =>",
        ),
        (
            WSE2,
            "@load_to_dsr(S1, OUT);",
            "1:18 dsr-direction: a `fabout_dsd` is a destination, and a `dsr_src1` a source =>",
        ),
        (WSE2, "@load_to_dsr(A, B);", "1:14 type-mismatch: @load_to_dsr takes one of `dsr_dest`,"),
        (WSE2, "@load_to_dsr(D0, s);", "1:18 type-mismatch: a DSR is loaded with a DSD, not with"),
        (
            WSE2,
            "@load_to_dsr(D0, A, .{ .async = true });",
            "1:33 async-operands: only DSDs of the fabric are asynchronous, not a `mem1d_dsd`",
        ),
        (
            WSE2,
            "@load_to_dsr(D0, A, .{ .index = 3 });",
            "1:33 unknown-field: the configuration of @load_to_dsr has no field `index`",
        ),
        (
            NEW2,
            "@load_to_dsr(D0, @get_dsd(mem4d_dsd, .{ .tensor_access = |i|{4} -> a[i] }));",
            "1:18 dsr-extended: a `mem4d_dsd` takes an extended DSR too in SDK 2.10",
        ),
        (
            NEW2,
            "@load_to_dsr_xdsr(S0, @get_xdsr(0), A);",
            "1:37 type-mismatch: @load_to_dsr_xdsr takes a `circbuf_dsd`, not a `mem1d_dsd`",
        ),
        (
            NEW2,
            "const d = @get_dsr(dsr_dest, 16);",
            "1:30 out-of-range: the number of a dsr_dest is from 0 to 15, not 16",
        ),
        (NEW2, "const d = @get_dsr(f32, 1);", "1:20 type-mismatch: @get_dsr makes one of dsr_des"),
        (WSE2, "const d = @get_sr(1);", "1:11 unavailable: @get_sr is of SDK 2.10, not of 1.4"),
    ],
)
def test_loads_that_do_not_fit_are_explained(options: Options, statement: str, said: str) -> None:
    assert mistake(statement, options).startswith(said)


def test_a_queue_of_a_dsr_has_to_be_initialised() -> None:
    assert mistake("@load_to_dsr(S1, IN);") == (
        "1:1 queue-not-initialised: input_queue 2 is not initialised, as a DSD in a DSR needs it"
        " => @initialize_queue(@get_input_queue(2), .{ .color = … })"
    )


# --- FIFOs ---------------------------------------------------------------------------------------

RING = "var ring = @zeros([16]u32);"


def test_fifos_are_rings_in_memory() -> None:
    before = (
        f"{RING} comptime {{ @bind_local_task(t, @get_local_task_id(12)); }}"
        " const fifo = @allocate_fifo(ring, .{ .activate_push = id, .activate_pop = t,"
        " .full_action = .{ .terminate = true } });"
    )
    tile = tile_with("@mov32(fifo, X);", NEW2, before)
    (fifo,) = tile.fifos
    assert (fifo.name, fifo.elements, fifo.activate_push) == ("ring", 16, 9)
    made = lower_tile(tile, NEW2, "code", PlaceTable(), Reports())
    (low,) = made.fifos
    assert (low.activate_push, low.activate_pop, low.elements) == (9, 12, 16)
    assert low.full_action is FifoAction.TERMINATE
    assert low.element_bytes == 4


def test_only_fifos_that_are_used_have_memory() -> None:
    before = f"{RING} const fifo = @allocate_fifo(ring);"
    tile = tile_with("@mov32(X, X);", WSE2, before)
    made = lower_tile(tile, WSE2, "code", PlaceTable(), Reports())
    assert [one.elements for one in made.fifos] == [0]
    assert "ring" not in {one.name for one in made.regions}


def test_lengths_of_fifos_are_set_in_place() -> None:
    before = f"{RING} const fifo = @allocate_fifo(&ring);"
    assert code("@set_fifo_read_length(fifo, u);", before=before) == (
        "FIFO_READ_LENGTH(fifo 0, @u);"
    )
    assert code("@set_fifo_write_length(fifo, 4);", before=before) == (
        "FIFO_WRITE_LENGTH(fifo 0, 4:u16);"
    )


@pytest.mark.parametrize(
    ("options", "declaration", "said"),
    [
        (WSE2, "@allocate_fifo(bytes)", "1:33 element-type: a FIFO has elements of 16 or 32 bits"),
        (
            WSE2,
            "@allocate_fifo(&number)",
            "1:33 type-mismatch: the buffer of a FIFO is an array, not a `f32` => var buffer",
        ),
        (
            WSE2,
            "@allocate_fifo(fixed)",
            "1:33 fifo-buffer: the buffer of a FIFO is a variable of the module => var buffer",
        ),
        (
            WSE2,
            "@allocate_fifo(ring, .{ .full_action = .{ .terminate = true } })",
            "1:57 unknown-field: a FIFO of SDK 1.4 on wse2 has no field `full_action`",
        ),
        (
            NEW2,
            "@allocate_fifo(ring, .{ .full_action = .{ .fault = true } })",
            "1:57 unknown-field: .full_action has no field `fault`",
        ),
        (
            NEW3,
            "@allocate_fifo(ring, .{ .simd_mode = .{ .simd_64 = true } })",
            "1:55 unknown-field: a FIFO of SDK 2.10 on wse3 has no field `simd_mode`",
        ),
        (
            WSE2,
            "@allocate_fifo(ring, .{ .xdsr = @get_xdsr(0) })",
            "1:50 missing-field: .dest, .src and .xdsr of a FIFO are given together or not at all",
        ),
    ],
)
def test_fifos_that_do_not_fit_are_explained(options: Options, declaration: str, said: str) -> None:
    before = (
        f"{RING} var bytes = @zeros([4]u8); var number: f32 = 0.0;"
        " const fixed = @constants([4]f32, 1.0);"
    )
    _, found = tile_of(f"const the_fifo = {declaration};\n{before}", options)
    assert len(found) == 1
    assert found[0].startswith(said)


# --- @map ----------------------------------------------------------------------------------------

MAPS = (
    "fn double(v: f32) f32 { return v + v; } fn blend(v: f32, r: f32, w: f32) f32"
    " { return v * r + w; } fn note(v: f32) void { s += v; } fn more(v: f32, t: *f32) f32"
    " { return v + t.*; } fn small(v: i16) i16 { return v; } fn tiny(v: u8) u8 { return v; }"
    " fn generic(v: anytype) f32 { return 1.0; }"
    " fn fixed(comptime q: f32, v: f32) f32 { return q * v; }"
    " inline fn quick(v: f32) f32 { return v; }"
)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("@map(double, A, B);", "map double({A}) -> {B};"),
        ("@map(blend, A, 2.0, B, A);", "map blend({A}, 2.0:f32, {B}) -> {A};"),
        ("@map(blend, A, s, 1, A);", "map blend({A}, @s, 1.0:f32) -> {A};"),
        ("@map(note, A);", "map note({A});"),
        ("@map(more, A, &s, &s);", "map more({A}, &s+0:*f32) -> &s+0:*f32;"),
        ("@map(double, 1.0, A);", "map double(1.0:f32) -> {A};"),
        ("@map(double, S1, D0);", "map double(dsr_src1 2) -> dsr_dest 0;"),
        ("@map(generic, A, B);", "map generic#1({A}) -> {B};"),
        ("@map(generic, s, B);", "map generic#1(@s) -> {B};"),
        ("@map(quick, A, B);", "map quick({A}) -> {B};"),
        ("@map(&double, A, B);", "map double({A}) -> {B};"),
    ],
)
def test_a_function_is_mapped(statement: str, text: str) -> None:
    for name in "AB":
        text = text.replace(f"{{{name}}}", f"MEMORY &{name.lower()}+0 10 by 1 wide")
    assert code(statement, before=MAPS) == text


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "@map(double, A);",
            "1:1 argument-count: `double` needs 1 inputs and an output for its result, not 1 in",
        ),
        ("@map(note, A, B);", "1:1 argument-count: `note` needs 1 inputs, not 2 in all => with"),
        ("@map(t, A);", "1:6 type-mismatch: @map calls a function, and `t` is a task"),
        (
            "@map(s, A);",
            "1:6 not-comptime: `s` is a variable: its value is not known",
        ),
        ("@map(generic, S1, B);", "1:6 generic-function: `generic` has a parameter of any type"),
        ("@map(fixed, 1.0, A, B);", "1:6 generic-function: `fixed` depends on how it is called"),
        ("@map(double, OUT, A);", "1:14 map-operands: @map can't read from a `fabout_dsd`"),
        (
            "@map(double, A, IN);",
            "1:17 map-operands: the output of @map can't be a value of type `fabin_dsd`",
        ),
        ("@map(double, A, s);", "1:17 map-operands: the output of @map can't be a value of type"),
        ("@map(double, s, &s);", "1:1 map-operands: @map needs at least one DSD or DSR"),
        ("@map(double, A, &n);", "1:17 type-mismatch: the result goes to a `*f32`, not to a `*i16"),
        (
            "@map(double, H, A);",
            "1:14 element-width: the parameter `v` is a `f32`, and elements here are `f16`",
        ),
        ("@map(small, W, A);", "1:16 element-width: the result is a `i16`, and elements here are"),
        ("@map(tiny, A, A);", "1:12 element-type: `v` gets elements, and @map has elements of 16"),
        ("@map(double, n, A);", "1:14 type-mismatch: expected `f32`, found `i16`"),
    ],
)
def test_maps_that_do_not_fit_are_explained(statement: str, said: str) -> None:
    assert mistake(statement, before=MAPS).startswith(said)


def test_a_function_of_a_library_is_mapped() -> None:
    before = 'const math = @import_module("<math>");'
    assert code("@map(math.sqrt_f32, A, B);", before=before).startswith("map math.sqrt_f32(")
