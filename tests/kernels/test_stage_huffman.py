"""Huffman stages: code words and layout against plain definitions, and every worked submission."""

from __future__ import annotations

import heapq
import itertools
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import fields
from kernels.bounds import derive
from kernels.records import Array
from kernels.streams.huffman_lengths import code_lengths
from kernels.streams.quantiser import quantise
from kernels.tasks import huffman
from kernels.tasks.huffman import CHUNK, NBINS, canonical_words, codes_of
from tests.kernels.submissions import loaded

FIELDS = ("uk_theta", "valley_pressure")


def lengths(*values: int) -> Array:
    return np.array(values, np.uint8)


def kraft(lens: Array) -> float:
    return sum(2.0 ** -int(length) for length in lens if length)


def plain_words(lens: Array) -> dict[int, str]:
    """Code words as strings, by the rule as the page states it."""
    words: dict[int, str] = {}
    word, previous = 0, None
    for length, symbol in sorted((int(n), s) for s, n in enumerate(lens) if n):
        if previous is not None:
            word = (word + 1) << (length - previous)
        words[symbol] = format(word, f"0{length}b")
        previous = length
    return words


def plain_encode(codes: Array, lens: Array) -> tuple[list[int], list[int]]:
    """Bits per chunk and words, through strings."""
    of = plain_words(lens)
    bits, words = [], []
    for at in range(0, len(codes), CHUNK):
        text = "".join(of[int(code)] for code in codes[at : at + CHUNK])
        bits.append(len(text))
        padded = text + "0" * (-len(text) % 32)
        words += [int(padded[i : i + 32], 2) for i in range(0, len(padded), 32)]
    return bits, words


def plain_decode(lens: Array, bits: Array, words: Array) -> list[int]:
    """Symbols, through strings."""
    symbol_of = {word: symbol for symbol, word in plain_words(lens).items()}
    codes, at = [], 0
    for count in bits.tolist():
        size = -(-count // 32)
        text = "".join(format(word, "032b") for word in words[at : at + size].tolist())[:count]
        at += size
        start = 0
        for end in range(1, count + 1):
            if text[start:end] in symbol_of:
                codes.append(symbol_of[text[start:end]])
                start = end
        assert start == count
    assert at == words.size
    return codes


@st.composite
def symbols_and_lengths(draw: st.DrawFn) -> tuple[Array, Array]:
    """Any legal input: lengths of a prefix code, complete or not, and symbols that have a word."""
    wanted = draw(st.lists(st.integers(0, 16), min_size=1, max_size=40))
    lens, room = np.zeros(len(wanted), np.uint8), 1 << 16
    for symbol, length in enumerate(wanted):
        if length and room >= 1 << (16 - length):
            lens[symbol] = length
            room -= 1 << (16 - length)
    usable = np.flatnonzero(lens)
    count = draw(st.sampled_from((0, 1, 2, 3, 4, 5, 31, 33, 999, 4095, 4096, 4097, 8192, 21000)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = count if usable.size else 0
    return random.choice(usable, size).astype(np.uint16) if size else np.zeros(0, np.uint16), lens


# ---- lengths -------------------------------------------------------------------------------------


def huffman_cost(counts: list[int]) -> int:
    """Total bits of the unlimited Huffman code: the sum of all merged weights."""
    heap = [count for count in counts if count]
    heapq.heapify(heap)
    total = 0
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        total += merged
        heapq.heappush(heap, merged)
    return total


@given(counts=st.lists(st.integers(0, 1000), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_lengths_cost_what_huffman_costs_where_the_limit_does_not_bind(counts: list[int]) -> None:
    lens = code_lengths(np.array(counts), longest=63)

    if sum(count > 0 for count in counts) > 1:
        assert int(np.dot(lens.astype(np.int64), counts)) == huffman_cost(counts)
        assert kraft(lens) == 1
    assert [length > 0 for length in lens] == [count > 0 for count in counts]


@given(counts=st.lists(st.integers(1, 60), min_size=2, max_size=7), longest=st.integers(3, 4))
@settings(max_examples=60, deadline=None)
def test_no_lengths_within_the_limit_cost_less(counts: list[int], longest: int) -> None:
    lens = code_lengths(np.array(counts), longest)

    assert lens.max() <= longest
    assert kraft(lens) <= 1
    cost = int(np.dot(lens.astype(np.int64), counts))
    ascending = sorted(counts, reverse=True)
    best = min(
        sum(length * count for length, count in zip(choice, ascending, strict=True))
        for choice in itertools.combinations_with_replacement(range(1, longest + 1), len(counts))
        if sum(2.0**-length for length in choice) <= 1
    )
    assert cost == best


def test_a_limit_that_binds_holds() -> None:
    fibonacci = [1, 1]
    while len(fibonacci) < 40:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    counts = np.array(fibonacci)

    assert code_lengths(counts, longest=63).max() == 39
    assert code_lengths(counts).max() == 16
    assert kraft(code_lengths(counts)) == 1


def test_lengths_of_special_counts() -> None:
    assert code_lengths(np.zeros(3, np.int64)).tolist() == [0, 0, 0]
    assert code_lengths(np.array([0, 9, 0])).tolist() == [0, 1, 0]
    assert code_lengths(np.array([5, 0, 1])).tolist() == [1, 0, 1]
    assert set(code_lengths(np.ones(65536, np.int64)).tolist()) == {16}
    with pytest.raises(ValueError, match="9 symbols"):
        code_lengths(np.ones(9, np.int64), longest=3)


# ---- the golden answers --------------------------------------------------------------------------


def test_words_are_those_of_the_example_in_rfc_1951() -> None:
    words = canonical_words(lengths(3, 3, 3, 3, 3, 2, 4, 4))

    assert words.tolist() == [0b010, 0b011, 0b100, 0b101, 0b110, 0b00, 0b1110, 0b1111]


def test_the_worked_example_of_the_page() -> None:
    lens = lengths(2, 0, 1, 3, 3)

    bits, words = huffman.encode(np.array([2, 3, 0, 2, 4], np.uint16), lens)

    assert plain_words(lens) == {2: "0", 0: "10", 3: "110", 4: "111"}
    assert (bits.tolist(), words.tolist()) == ([10], [0x69C00000])
    for shown in ("| symbol | 2 | 0 | 3 | 4 |", "| word | 0 | 10 | 110 | 111 |", "[0x69C00000]"):
        assert shown in huffman.ENCODE_PAGE
        assert shown in huffman.DECODE_PAGE


@given(case=symbols_and_lengths())
@settings(max_examples=80, deadline=None)
def test_golden_coding_is_the_plain_definition_both_ways(case: tuple[Array, Array]) -> None:
    codes, lens = case

    bits, words = huffman.encode(codes, lens)
    (back,) = huffman.decode(lens, bits, words, codes.size)

    assert [a.dtype.name for a in (bits, words, back)] == ["uint32", "uint32", "uint16"]
    assert (bits.tolist(), words.tolist()) == plain_encode(codes, lens)
    assert plain_decode(lens, bits, words) == back.tolist() == codes.tolist()


def test_edge_cases_are_legal_and_decode_to_their_symbols() -> None:
    encoding, decoding = huffman.ENCODE.edge_cases(), huffman.DECODE.edge_cases()

    for one, other in zip(encoding, decoding, strict=True):
        codes, lens = one.inputs
        assert isinstance(codes, np.ndarray)
        assert isinstance(lens, np.ndarray)
        assert kraft(lens) <= 1, one.name
        assert (lens[codes] > 0).all(), one.name
        assert lens.max() <= 16, one.name
        assert np.array_equal(huffman.DECODE.golden(*other.inputs)[0], codes), one.name


def test_edge_cases_meet_what_the_page_promises() -> None:
    cases = {case.name: case.inputs for case in huffman.DECODE.edge_cases()}
    bits = {name: np.asarray(inputs[1]).tolist() for name, inputs in cases.items()}
    sizes = {inputs[3] for inputs in cases.values()}
    lens = [np.asarray(inputs[0]) for inputs in cases.values()]

    assert {0, 1, 2, 31, 32, 33, 4095, 4096, 4097, 8192, 65536} <= sizes
    assert all(count % 32 == 0 for count in bits["chunks_end_with_their_word"])
    assert bits["last_chunk_ends_with_its_word"] == [4096, 32]
    assert bits["one_bit_past_a_word"] == [4096, 33]
    assert any(each.size == 65536 and each.min() == 16 for each in lens)
    assert any(0 < kraft(each) <= 0.5 for each in lens)
    assert np.asarray(cases["steepest_counts"][0]).max() == 16


@pytest.mark.parametrize("name", FIELDS)
def test_inputs_are_centred_differences_of_a_field(name: str) -> None:
    field = fields.load(name)
    bound = derive(field.data, field.info.fill_value, "rel", 1e-4).absolute
    q = quantise(field.data, bound).reshape(-1).astype(np.int64)
    differences = np.diff(q, prepend=0)
    expected = np.where(np.abs(differences) < NBINS // 2, differences + NBINS // 2, 0)

    codes, lens = huffman.ENCODE.inputs(field.data, bound)

    assert isinstance(codes, np.ndarray)
    assert isinstance(lens, np.ndarray)
    assert (codes.dtype.name, lens.dtype.name, lens.size) == ("uint16", "uint8", NBINS)
    assert np.array_equal(codes, expected)
    assert (expected == 0).any()
    counts = np.bincount(codes, minlength=NBINS)
    assert np.array_equal(lens > 0, counts > 0)
    assert kraft(lens) == 1
    bits, words = huffman.ENCODE.golden(codes, lens)
    decoding = huffman.DECODE.inputs(field.data, bound)
    for given_, wanted in zip(decoding, (lens, bits, words, codes.size), strict=True):
        assert np.array_equal(np.asarray(given_), np.asarray(wanted))


# ---- submissions ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["naive", "tuned"])
def encoder(request: pytest.FixtureRequest) -> ModuleType:
    with loaded("huffman-encode", request.param) as module:
        return module


@pytest.fixture(scope="module", params=["naive", "tuned"])
def decoder(request: pytest.FixtureRequest) -> ModuleType:
    with loaded("huffman-decode", request.param) as module:
        return module


def encodes(module: ModuleType, codes: Array, lens: Array) -> bool:
    bits, words = module.run(codes.copy(), lens.copy())
    wanted = huffman.encode(codes, lens)
    return (
        (bits.dtype, words.dtype) == (np.uint32, np.uint32)
        and np.array_equal(bits, wanted[0])
        and np.array_equal(words, wanted[1])
    )


def decodes(module: ModuleType, codes: Array, lens: Array) -> bool:
    bits, words = huffman.encode(codes, lens)
    back = module.run(lens.copy(), bits, words.copy(), codes.size)
    return back.dtype == np.uint16 and np.array_equal(back, codes)


def test_an_encoder_equals_the_golden_answer_on_edge_cases(encoder: ModuleType) -> None:
    for case in huffman.ENCODE.edge_cases():
        codes, lens = (np.asarray(value) for value in case.inputs)
        assert encodes(encoder, codes, lens), case.name


def test_a_decoder_equals_the_golden_answer_on_edge_cases(decoder: ModuleType) -> None:
    for case in huffman.ENCODE.edge_cases():
        codes, lens = (np.asarray(value) for value in case.inputs)
        assert decodes(decoder, codes, lens), case.name


@pytest.mark.parametrize("name", FIELDS)
def test_an_encoder_equals_the_golden_answer_on_fields(encoder: ModuleType, name: str) -> None:
    field = fields.load(name)
    for value in (1e-2, 1e-4):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        assert encodes(encoder, *codes_of(field.data, bound))


@pytest.mark.parametrize("name", FIELDS)
def test_a_decoder_equals_the_golden_answer_on_fields(decoder: ModuleType, name: str) -> None:
    field = fields.load(name)
    for value in (1e-2, 1e-4):
        bound = derive(field.data, field.info.fill_value, "rel", value).absolute
        assert decodes(decoder, *codes_of(field.data, bound))


@given(case=symbols_and_lengths())
@settings(max_examples=80, deadline=None)
def test_an_encoder_equals_the_golden_answer_on_any_code(
    encoder: ModuleType, case: tuple[Array, Array]
) -> None:
    assert encodes(encoder, *case)


@given(case=symbols_and_lengths())
@settings(max_examples=80, deadline=None)
def test_a_decoder_equals_the_golden_answer_on_any_code(
    decoder: ModuleType, case: tuple[Array, Array]
) -> None:
    assert decodes(decoder, *case)
