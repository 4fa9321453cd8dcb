import pytest

from simulators.wafer.dsd import Vector
from tests.toolchains.csl.compiling import WSE2, WSE3, tile_of
from tests.toolchains.csl.dsds import AROUND, END, NEW2, NEW3, code, mistake, operation
from toolchains.csl import types
from toolchains.csl.builtin_names import DSD_OPERATIONS
from toolchains.csl.builtins.operations import OPERATIONS, OPERATIONS_TABLE
from toolchains.csl.evaluation import Options

_OPERANDS = {
    "h": ("H", "H", "k", "&k"),
    "s": ("A", "B", "s", "&s"),
    "n": ("W", "W", "n", "&n"),
    "m": ("X", "X", "l", "&l"),
}
"""Destination, source, scalar and pointer of a kind."""
_KINDS = {
    "mov32": "m",
    "fh2s": "sh",
    "fs2h": "hs",
    "faddhs": "sh",
    "fmachs": "sh",
    "fh2xp16": "nh",
    "fs2xp16": "ns",
    "xp162fh": "hn",
    "xp162fs": "sn",
}
"""Of destination and sources, where the name's last letter doesn't tell."""


def _kinds(name: str) -> str:
    plain = name.removeprefix("@")
    if plain in _KINDS:
        return _KINDS[plain]
    return plain[-1] if plain[0] == "f" else "n"


def _calls() -> list[tuple[str, str]]:
    found = []
    for name, entry in OPERATIONS_TABLE.items():
        kinds = _kinds(name)
        for form in entry.forms:
            arguments = [_argument(kinds, token, n) for n, token in enumerate(form)]
            found.append((name, f"{name}({', '.join(arguments)});"))
    return found


def _argument(kinds: str, token: str, position: int) -> str:
    if token == "i":
        return "n"
    if token in ("D", "S"):
        kind = kinds[0] if token == "D" else kinds[-1]
        return _OPERANDS[kind][0 if token == "D" else 1]
    if token[0] == "p":
        return _OPERANDS["n" if token[2] == "i" else token[2]][3]
    return _OPERANDS[token][2]


@pytest.mark.parametrize(("name", "statement"), _calls())
def test_every_form_is_accepted(name: str, statement: str) -> None:
    made = operation(statement)
    assert made.vector is Vector[name[1:].upper()]
    assert made.type == types.VOID
    assert len(made.sources) == statement.count(",")


def test_the_table_has_all_operations() -> None:
    assert set(OPERATIONS) == DSD_OPERATIONS
    assert {entry.vector for entry in OPERATIONS_TABLE.values()} | {Vector.DFILT} == set(Vector)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("@fmacs(A, A, B, 2.0);", "FMACS({A}, {A}, {B}, 2.0:f32);"),
        ("@fmacs(A, A, B, 2);", "FMACS({A}, {A}, {B}, 2.0:f32);"),
        ("@add16(W, W, 7);", "ADD16({W}, {W}, 7:i16);"),
        ("@add16(W, W, 40000);", "ADD16({W}, {W}, 40000:u16);"),
        ("@add16(W, u, W);", "ADD16({W}, @u, {W});"),
        ("@fmovs(&s, A);", "FMOVS(&s+0:*f32, {A});"),
        ("@mov32(D0, S1);", "MOV32(dsr_dest 0, dsr_src1 2);"),
        ("@fadds(D0, S0, S1);", "FADDS(dsr_dest 0, dsr_src0 1, dsr_src1 2);"),
        ("@fadds(S0, S0, S1);", "FADDS(dsr_src0 1, dsr_src0 1, dsr_src1 2);"),
        ("@mov32(&l, X);", "MOV32(&l+0:*u32, {X});"),
    ],
)
def test_operands_are_what_is_written(statement: str, text: str) -> None:
    known = {
        "A": "MEMORY &a+0 10 by 1 wide",
        "B": "MEMORY &b+0 10 by 1 wide",
        "W": "MEMORY &w+0 10 by 1",
        "X": "MEMORY &x+0 10 by 1 wide",
    }
    for name, shown in known.items():
        text = text.replace(f"{{{name}}}", shown)
    assert code(statement) == text


@pytest.mark.parametrize(
    ("options", "statement", "said"),
    [
        (
            WSE2,
            "@fmacs(A, A, B);",
            "1:1 argument-count: @fmacs takes 4 operands, not 3"
            " => @fmacs(destination, source, source, f32)",
        ),
        (
            WSE2,
            "@fmacs(A, OUT, B, s);",
            "1:11 operand: the first source of @fmacs can't be a `fabout_dsd`"
            " => @fmacs(destination, source, source, f32)",
        ),
        (
            WSE2,
            "@fmovs(IN, A);",
            "1:8 operand: the destination of @fmovs can't be a `fabin_dsd`"
            " => @fmovs(destination, source) or @fmovs(pointer to f32, source)",
        ),
        (
            WSE2,
            "@sub16(W, 1, W);",
            "1:11 operand: the first source of @sub16 can't be a value of type `comptime_int`"
            " => @sub16(destination, source, source)",
        ),
        (
            WSE2,
            "@fmovs(&u, A);",
            "1:8 operand: the destination of @fmovs can't be a value of type `*u16`"
            " => @fmovs(destination, source) or @fmovs(pointer to f32, source)",
        ),
        (
            WSE2,
            "@fadds(a, A, B);",
            "1:8 operand: the destination of @fadds can't be a value of type `[10]f32`"
            " => @fadds(destination, source, source)",
        ),
        (
            WSE2,
            "@mov32(S1, X);",
            "1:8 operand: the destination of @mov32 can't be a `dsr_src1`"
            " => @mov32(destination, source) or @mov32(pointer to i32 or u32, source)",
        ),
        (
            WSE2,
            "@add16(W, W, l);",
            "1:14 type-mismatch: a scalar of @add16 is `i16` or `u16`, not a `u32` => @as(i16, …)",
        ),
        (WSE2, "@fmacs(A, A, B, k);", "1:17 type-mismatch: a scalar of @fmacs is `f32`, not a `f"),
        (WSE2, "@add16(W, W, 70000);", "1:14 value-range: 70000 does not fit `i16`"),
        (
            WSE2,
            "@fmovs(A, H);",
            "1:11 element-width: the first source of @fmovs has elements of 32 bits, not `f16`"
            " => @fmovh is for `f16`",
        ),
        (
            WSE2,
            "@faddh(H, H, A);",
            "1:14 element-width: the second source of @faddh has elements of 16 bits, not `f32`"
            " => @fadds is for `f32`",
        ),
        (
            WSE2,
            "@mov16(W, X);",
            "1:11 element-width: the first source of @mov16 has elements of 16 bits, not `u32`"
            " => @mov32 is for `u32`",
        ),
        (
            NEW3,
            "@fadds(A, IN, IN);",
            "1:15 fabric-operands: on wse3, @fadds takes at most one operand from the fabric",
        ),
    ],
)
def test_operands_that_do_not_fit_are_named(options: Options, statement: str, said: str) -> None:
    assert mistake(statement, options).startswith(said)


def test_pairs_of_16_bits_may_be_moved_as_32() -> None:
    half = "const P = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> h[i] });"
    assert code("@mov32(P, P);", before=half).startswith("MOV32(")


def test_two_fabric_operands_are_no_mistake_before_2_10() -> None:
    assert code("@fadds(A, IN, IN);", WSE3).startswith("FADDS(")
    assert code("@fadds(A, IN, IN);", NEW2).startswith("FADDS(")


def test_constants_are_no_destinations() -> None:
    before = (
        "const fixed = @constants([4]f32, 1.0);"
        "const F = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> fixed[i] });"
    )
    assert code("@fmovs(A, F);", before=before).startswith("FMOVS(")
    assert mistake("@fmovs(F, A);", before=before).startswith(
        "1:8 constant: the destination is in `fixed`, which is constant => var fixed"
    )
    text = "const value: f32 = 1.0;"
    assert "points to what is constant" in mistake("@fmovs(&value, A);", before=text)


def test_the_16_bit_float_is_that_of_the_program() -> None:
    options = Options("wse2", memcpy=False, fp16=types.BF16)
    text = (
        "var h = @zeros([4]bf16); var k: bf16 = 0.0;"
        " const H = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> h[i] });"
        " fn f() void { @fmach(H, H, H, k); }"
    )
    assert not tile_of(text + END, options)[1]
    assert tile_of(text.replace("bf16", "f16") + END, options)[1]


# --- asynchronous operations ---------------------------------------------------------------------


def test_operations_of_the_fabric_may_be_asynchronous() -> None:
    made = operation("@fmovs(A, IN, .{ .async = true, .activate = id });")
    assert made.behaviour.asynchronous
    assert made.behaviour.completion_id == 9
    assert code("@fmovs(D0, S1, .{ .async = true });").startswith("FMOVS(dsr_dest")


def test_operations_on_memory_are_not_asynchronous() -> None:
    assert mistake("@fmovs(A, B, .{ .async = true });") == (
        "1:26 async-operands: @fmovs can't be asynchronous: none of its operands is of the fabric"
        " => operations on memory are done at once: leave .async out"
    )


def test_dfilt_takes_a_source_and_is_asynchronous() -> None:
    made = operation("@dfilt(IN, .{ .async = true, .activate = id });")
    assert (made.vector, made.behaviour.completion_id) == (Vector.DFILT, 9)
    assert "1:1 async-operands: @dfilt is always asynchronous" in mistake("@dfilt(IN);")
    assert "1:8 operand: @dfilt takes a `fabin_dsd` or" in mistake("@dfilt(A, .{ .async = true });")


# --- FIFOs ---------------------------------------------------------------------------------------

FIFO = "var ring = @zeros([16]f32); const fifo = @allocate_fifo(ring);"


def test_synchronous_operations_on_fifos_tell_whether_they_ended() -> None:
    assert operation("@fmovs(fifo, A);", before=FIFO).type == types.BOOL
    assert operation("@fmovs(OUT, fifo, .{ .async = true });", before=FIFO).type == types.VOID
    assert code("const done = @fmovs(A, fifo);", before=FIFO) == (
        "done = FMOVS(MEMORY &a+0 10 by 1 wide, fifo 0);"
    )


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("@fadds(A, fifo, B);", "1:11 operand: a FIFO can't be the first of two sources of @fadds"),
        ("@fadds(A, fifo, fifo);", "1:17 operand: @fadds reads from at most one FIFO"),
        (
            "@mov16(W, fifo);",
            "1:11 element-width: the first source of @mov16 has elements of 16 bits, not `f32`",
        ),
    ],
)
def test_fifos_that_do_not_fit_are_named(statement: str, said: str) -> None:
    found = mistake(statement, before=FIFO)
    assert found.startswith(said)


def test_a_scalar_is_no_second_source_of_a_fifo() -> None:
    assert code("@fadds(A, s, fifo);", before=FIFO).startswith("FADDS(")
    assert code("@fadds(A, fifo, s);", before=FIFO).startswith("FADDS(")


def test_a_void_colour_is_an_error_only_where_it_is_used() -> None:
    before = (
        "const none = {}; const GONE = @get_dsd(fabout_dsd, .{ .extent = 1,"
        " .output_queue = @get_output_queue(2), .fabric_color = none });"
    )
    assert code("@fmovs(A, B);", before=before)
    assert mistake("@fmovs(GONE, A);", before=before) == (
        "1:8 missing-color: this DSD has no colour: its .fabric_color is void"
    )


def test_configurations_are_found_by_their_type() -> None:
    before = "const how = .{ .async = true, .activate = id };"
    made = operation("@fmovs(OUT, A, how);", before=before)
    assert made.behaviour.completion_id == 9
    assert operation("@fmovs(OUT, A, .{});").behaviour.asynchronous is False


def test_other_mistakes_are_still_found() -> None:
    _, said = tile_of(f"{AROUND}\nfn f() void {{ @fmovs(Q, A); @fmovs(A, R); }}{END}")
    assert [one.split(": ")[0].split(" ")[1] for one in said] == ["undefined-name"] * len(said)
    assert said
