import pytest

from tests.toolchains.csl.compiling import WSE2, WSE3, tile_of
from tests.toolchains.csl.dsds import NEW2, NEW3, code, dsd, mistake, shown, tile_with
from toolchains.csl import tree
from toolchains.csl.evaluation import Options

MEM = "@get_dsd(mem1d_dsd, .{{ {} }})"
MEM4 = "@get_dsd(mem4d_dsd, .{{ {} }})"
IN = "@get_dsd(fabin_dsd, .{{ .extent = 4, .input_queue = @get_input_queue(1), {} }})"
OUT = (
    "@get_dsd(fabout_dsd, .{{ .extent = 4, .output_queue = @get_output_queue(1),"
    " .fabric_color = @get_color(5), {} }})"
)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (".tensor_access = |i|{10} -> a[i]", "MEMORY &a+0 10 by 1 wide"),
        (".tensor_access = |i|{5} -> w[i + 2]", "MEMORY &w+4 5 by 1"),
        (".tensor_access = |i|{5} -> a[2 * i + 1]", "MEMORY &a+4 5 by 2 wide"),
        (".tensor_access = |i|{5} -> a[i * 2]", "MEMORY &a+0 5 by 2 wide"),
        (".tensor_access = |i|{10} -> a[9 - i]", "MEMORY &a+36 10 by -1 wide"),
        (".tensor_access = |i|{10} -> a[-(i - 9)]", "MEMORY &a+36 10 by -1 wide"),
        (".tensor_access = |i|{4} -> m[i, 2]", "MEMORY &m+8 4 by 6 wide"),
        (".tensor_access = |i|{4} -> m[i, i + 1]", "MEMORY &m+4 4 by 7 wide"),
        (".tensor_access = |i|{6} -> m[3, i]", "MEMORY &m+72 6 by 1 wide"),
        (".tensor_access = |i|{3} -> a[2 * (i + 1) + @as(i16, i)]", "MEMORY &a+8 3 by 3 wide"),
        (".tensor_access = |i|{3} -> a[5]", "MEMORY &a+20 3 by 0 wide"),
        (".tensor_access = |i|{9} -> one[i + 1]", "MEMORY &one+4 9 by 1 wide"),
        (".base_address = &a, .extent = 10", "MEMORY &a+0 10 by 1 wide"),
        (".base_address = &m[1, 2], .extent = 3, .stride = 6", "MEMORY &m+32 3 by 6 wide"),
        (".base_address = &h, .extent = 3, .offset = -2", "MEMORY &h+-4 3 by 1"),
        (
            ".tensor_access = .{ .base_address = &a, .extent = 10, .stride = .{2} }",
            "MEMORY &a+0 10 by 2 wide",
        ),
        (
            ".tensor_access = |i|{10} -> a[i], .wavelet_index_offset = true",
            "MEMORY &a+0 10 by 1 wide index=1",
        ),
    ],
)
def test_memory_of_one_dimension(fields: str, text: str) -> None:
    assert dsd(MEM.format(fields)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (".tensor_access = |i, j|{4, 6} -> m[i, j]", "MEMORY_4D &m+0 4,6 by 6,1 wide"),
        (".tensor_access = |j, i|{6, 4} -> m[i, j]", "MEMORY_4D &m+0 6,4 by 1,6 wide"),
        (".tensor_access = |i, j, p|{2, 4, 6} -> m[j, p]", "MEMORY_4D &m+0 2,4,6 by 0,6,1 wide"),
        (
            ".tensor_access = |i, j, p, q|{2, 2, 2, 2} -> a[i + j + p + q]",
            "MEMORY_4D &a+0 2,2,2,2 by 1,1,1,1 wide",
        ),
        (
            ".base_address = &m, .extent = .{4, 6}, .stride = .{1, 6}",
            "MEMORY_4D &m+0 4,6 by 6,1 wide",
        ),
        (".tensor_access = |i|{10} -> w[i]", "MEMORY_4D &w+0 10 by 1"),
    ],
)
def test_memory_of_several_dimensions(fields: str, text: str) -> None:
    assert dsd(MEM4.format(fields)) == text


def test_arrays_are_reached_by_pointers_and_members() -> None:
    before = "fn through(p: *[4, 6]f32, q: [*]f16) void { used(|_X|); }"
    access = "@get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> {}[{}] }})"
    for base, index, start in (
        ("p", "i, 1", "make(MEMORY ? 3 by 6 wide, BASE=p ADVANCE_4=1:i16)"),
        ("(p.*)", "i, 0", "make(MEMORY ? 3 by 6 wide, BASE=&p.*)"),
        ("q", "i", "make(MEMORY ? 3 by 1, BASE=q)"),
    ):
        text = before.replace("|_X|", access.format(base, index))
        tile = tile_with("through(&m, &h);", before=text + " fn used(d: mem1d_dsd) void {}")
        (found,) = [one for one in tile.functions if one.name == "through"]
        effect = found.body[0]
        assert isinstance(effect, tree.Effect)
        assert shown(effect.value) == f"used({start})"


def test_what_is_not_known_becomes_code() -> None:
    live = "const d = @get_dsd(mem1d_dsd, .{{ {} }});"
    assert code(live.format(".tensor_access = |i|{u} -> a[i]")) == (
        "d = make(MEMORY &a+0 0 by 1 wide, EXTENT=@u);"
    )
    assert code(live.format(".tensor_access = |i|{4} -> a[i + n]")) == (
        "d = make(MEMORY &a+0 4 by 1 wide, ADVANCE_4=@n);"
    )
    assert code(live.format(".tensor_access = |i|{4} -> m[n, i + 2]")) == (
        "d = make(MEMORY &m+0 4 by 1 wide, ADVANCE_4=((@n * 6:i16) + 2:i16));"
    )
    assert code(live.format(".tensor_access = |i|{4} -> h[n * i - u]")) == (
        "d = make(MEMORY &h+0 4 by 1, ADVANCE_2=-bitcast<i16>(@u) STRIDE=@n);"
    )
    assert code(live.format(".base_address = &a[u], .extent = 4")) == (
        "d = make(MEMORY ? 4 by 1 wide, BASE=&@a[@u]);"
    )
    fabric = ".extent = u, .input_queue = @get_input_queue(1), .fabric_color = @get_color(4)"
    assert code(f"const d = @get_dsd(fabin_dsd, .{{ {fabric} }});") == (
        "d = make(FABRIC_IN q1 c4 o0 0 by 1, EXTENT=@u);"
    )


@pytest.mark.parametrize(
    ("options", "expression", "text"),
    [
        (WSE2, IN.format(""), "FABRIC_IN q1 c-1 o0 4 by 1"),
        (WSE2, IN.format(".fabric_color = @get_color(3)"), "FABRIC_IN q1 c3 o0 4 by 1"),
        (WSE3, IN.format(".priority = .{ .high = true }"), "FABRIC_IN q1 c-1 o64 4 by 1"),
        (WSE2, OUT.format(""), "FABRIC_OUT q1 c5 o0 4 by 1"),
        (WSE2, OUT.format(".control = true"), "FABRIC_OUT q1 c5 o1 4 by 1"),
        (WSE2, OUT.format(".advance_switch = true"), "FABRIC_OUT q1 c5 o2 4 by 1"),
        (WSE2, OUT.format(".control_transform = true"), "FABRIC_OUT q1 c5 o4 4 by 1"),
        (WSE2, OUT.format(".zero = .{ .second_source = true }"), "FABRIC_OUT q1 c5 o16 4 by 1"),
        (WSE2, OUT.format(".wavelet_index_offset = true"), "FABRIC_OUT q1 c5 o0 4 by 1 index=1"),
        (WSE3, OUT.format(".priority = .{ .low = true }"), "FABRIC_OUT q1 c5 o32 4 by 1"),
        (WSE2, OUT.format(".simd_mode = .{ .simd_64 = true }"), "FABRIC_OUT q1 c5 o0 4 by 1"),
        (NEW3, OUT.format(".simd_mode = .{ .simd_off = true }"), "FABRIC_OUT q1 c5 o0 4 by 1"),
        (
            NEW2,
            "@get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 30, .wraparound = 10 })",
            "CIRCULAR &a+0 30 by 1 wide index=10",
        ),
    ],
)
def test_the_fabric_and_circular_buffers(options: Options, expression: str, text: str) -> None:
    assert dsd(expression.replace("{{", "{").replace("}}", "}"), options) == text


def test_properties_need_not_be_a_literal() -> None:
    before = "const all = .{ .base_address = &a, .extent = 4 };"
    assert dsd("@get_dsd(mem1d_dsd, all)", before=before) == "MEMORY &a+0 4 by 1 wide"
    chosen = (
        '@get_dsd(mem1d_dsd, if (@is_arch("wse3")) .{ .nonsense = 1 }'
        " else .{ .tensor_access = |i|{10} -> a[i] })"
    )
    assert dsd(chosen) == "MEMORY &a+0 10 by 1 wide"


@pytest.mark.parametrize(
    ("options", "expression", "said"),
    [
        (WSE2, "@get_dsd(f32, .{})", "type-mismatch: @get_dsd makes one of mem1d_dsd, mem4d_dsd,"),
        (WSE2, MEM.format(".extent = 4"), "missing-field: a `mem1d_dsd` needs .base_address and"),
        (WSE2, MEM.format(".base_address = &a"), "missing-field: a `mem1d_dsd` needs .base_addr"),
        (
            WSE2,
            MEM.format(".base_address = a, .extent = 4"),
            "type-mismatch: .base_address is a pointer, not a `[10]f32` => &a",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{10} -> bytes[i]"),
            "element-type: a `mem1d_dsd` has elements of 16 or 32 bits, not of type `u8` =>",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{10} -> a[i], .extent = 4"),
            "duplicate-property: .extent is given twice: the tensor access has it",
        ),
        (
            WSE2,
            MEM.format(".base_address = &a, .extent = 4, .extent = 5"),
            "duplicate-property: .extent is given twice",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{10} -> a[i], .strid = 1"),
            "unknown-field: a `mem1d_dsd` has no field `strid` => did you mean `stride`?",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{11} -> a[i]"),
            "out-of-bounds: this index reaches 10, outside of 10 elements => 0 to 9",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4} -> m[i - 1, 2]"),
            "out-of-bounds: this index reaches -1, outside of 4 elements => 0 to 3",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4} -> a[i * i]"),
            "not-affine: an index depends on `i` only by products and sums => such as a[2 * i +",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4} -> a[i / 2]"),
            "not-affine: an index depends on `i` only by products and sums",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i, j|{4, 6} -> m[i, j]"),
            "dsd-rank: a `mem1d_dsd` has one dimension, not 2 => @get_dsd(mem4d_dsd, …) has up",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4, 6} -> m[i, 0]"),
            "tensor-access: 1 variables, but 2 extents",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4} -> m[i]"),
            "index-count: `[4, 6]f32` takes 2 indices, not 1",
        ),
        (
            WSE2,
            MEM.format(".tensor_access = |i|{4} -> s[i]"),
            "tensor-access: a tensor access is of an array, not of a `f32`",
        ),
        (
            WSE2,
            MEM.format(".base_address = &a, .extent = 4, .stride = 200"),
            "out-of-range: the stride of a `mem1d_dsd` is from -128 to 127, not 200 => @get_dsd",
        ),
        (
            WSE2,
            MEM.format(".base_address = &a, .extent = 70000"),
            "out-of-range: an extent is from 0 to 65535, not 70000",
        ),
        (
            WSE2,
            MEM.format(".base_address = &a, .extent = 4, .offset = 40000"),
            "out-of-range: the offset is from -32768 to 32767, not 40000",
        ),
        (
            WSE2,
            MEM4.format(".base_address = &m, .extent = .{4, 6}"),
            "missing-field: a `mem4d_dsd` of this rank needs a .stride",
        ),
        (
            WSE2,
            MEM4.format(".base_address = &m, .extent = .{4, 6}, .stride = .{1}"),
            "dsd-rank: 2 extents have 2 strides, not 1",
        ),
        (
            WSE2,
            MEM4.format(".tensor_access = |i, j|{u, 6} -> m[i, j]"),
            "not-comptime: the extents and strides of a `mem4d_dsd` are known while compiling",
        ),
        (
            WSE2,
            "@get_dsd(fabin_dsd, .{ .extent = 4 })",
            "missing-field: a `fabin_dsd` needs an .input_queue => .input_queue = @get_input_qu",
        ),
        (
            WSE2,
            "@get_dsd(fabin_dsd, .{ .input_queue = @get_input_queue(1) })",
            "missing-field: a `fabin_dsd` needs an .extent: the number of its wavelets",
        ),
        (
            WSE2,
            "@get_dsd(fabin_dsd, .{ .extent = 1, .input_queue = @get_output_queue(1) })",
            "type-mismatch: .input_queue is an `input_queue`, not a `output_queue` => @get_input",
        ),
        (
            WSE2,
            "@get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = @get_output_queue(1) })",
            "missing-field: a `fabout_dsd` of wse2 needs the colour that its wavelets get =>",
        ),
        (
            WSE2,
            IN.format(".priority = .{ .high = true }"),
            "unknown-field: a `fabin_dsd` on wse2 has no field `priority`",
        ),
        (
            WSE2,
            IN.format(".control = true"),
            "unknown-field: a `fabin_dsd` on wse2 has no field `control`",
        ),
        (
            NEW3,
            OUT.format(".simd_mode = .{ .simd_32 = true }"),
            "unknown-field: .simd_mode has no field `simd_32`",
        ),
        (
            WSE2,
            "@get_dsd(fabin_dsd, .{ .tensor_access = |i|{10} -> a[i] })",
            "unknown-field: a `fabin_dsd` has no .tensor_access: it is not in memory",
        ),
        (WSE2, OUT.format(".control = 1"), "type-mismatch: .control is a bool, not a `comptime_in"),
        (
            NEW2,
            "@get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 30 })",
            "missing-field: a `circbuf_dsd` needs .base_address, .extent and .wraparound",
        ),
    ],
)
def test_mistakes_are_explained(options: Options, expression: str, said: str) -> None:
    plain = expression.replace("{{", "{").replace("}}", "}")
    found = mistake(f"const d = {plain};", options)
    assert found.split(" ", 1)[1].startswith(said)


def test_mistakes_are_placed() -> None:
    found = mistake("const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i + i * i] });")
    assert found.startswith("1:67 not-affine")
    found = mistake("const d = @get_dsd(mem1d_dsd, .{\n .base_address = &bytes, .extent = 4 });")
    assert found.startswith("2:18 element-type")


QUEUE = (
    "const {} = @get_dsd(fabin_dsd, .{{ .extent = 1, .input_queue = @get_input_queue({}),"
    " .fabric_color = @get_color({}) }});"
)


def test_queues_of_1_4_are_initialised_by_their_dsds() -> None:
    text = QUEUE.format("x", 3, 7) + QUEUE.format("y", 3, 7)
    tile, said = tile_of(text, WSE2)
    assert not said
    assert [(one.id, one.color, one.explicit) for one in tile.queues] == [(3, 7, False)]
    tile, said = tile_of(text, NEW2)
    assert not said
    assert not tile.queues


def test_explicit_queues_are_kept() -> None:
    text = QUEUE.format("x", 3, 7)
    text += "comptime { @initialize_queue(@get_input_queue(3), .{ .color = @get_color(7) }); }"
    tile, said = tile_of(text, WSE2)
    assert not said
    assert [(one.id, one.color, one.explicit) for one in tile.queues] == [(3, 7, True)]


def test_colours_that_clash_on_a_queue_are_reported() -> None:
    _, said = tile_of(QUEUE.format("x", 3, 7) + "\n" + QUEUE.format("y", 3, 8), WSE2)
    assert said == [
        "2:11 queue-clash: input_queue 3 is for colour 7, not for colour 8"
        " => another queue; free here: 0, 1, 2, 4, 5, 6, 7"
    ]
