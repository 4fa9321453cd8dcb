"""What a wafer submission's host part may do, and what it may not."""

from __future__ import annotations

import numpy as np
import pytest

from toolchains.wafer_flow import HEADER_BYTES, ROW_BYTES, Traffic, misuse

FIELD = np.arange(1, 4001, dtype=np.float32)
STREAM = (np.arange(2000, dtype=np.uint32) * 2654435761).view(np.uint8)


def traffic(*, sent: np.ndarray, back: np.ndarray, rows: int = 1, arguments: int = 3) -> Traffic:
    return Traffic([sent.tobytes()], [back.tobytes()], arguments, False, rows, 1)


def test_the_field_padded_and_permuted_may_go_in_and_words_that_came_back_may_go_out() -> None:
    padded = np.concatenate([FIELD[::-1], np.zeros(96, np.float32)])

    told = misuse(traffic(sent=padded, back=STREAM), [FIELD, 0.1], [STREAM[: 4 * 1500]])

    assert told == ""


def test_words_computed_by_the_host_may_not_go_in() -> None:
    told = misuse(traffic(sent=FIELD * 3.5, back=STREAM), [FIELD, 0.1], [STREAM])

    assert told.endswith("the host part may reshape, pad with zeros and permute, not compute")
    assert "different words copied to the device are none that the call was given" in told


def test_a_stream_that_the_host_made_is_not_taken_for_the_devices() -> None:
    told = misuse(traffic(sent=FIELD, back=FIELD), [FIELD, 0.1], [STREAM])

    assert told.startswith("2000 of the words returned did not come back from the device")


def test_a_word_that_came_back_once_is_good_for_one_word_of_the_stream() -> None:
    twice = np.concatenate([STREAM, STREAM])

    told = misuse(traffic(sent=FIELD, back=STREAM), [FIELD, 0.1], [twice])

    assert told.startswith("2000 of the words returned")


def test_a_header_and_something_per_row_may_be_the_hosts_own() -> None:
    own = np.full((HEADER_BYTES + 2 * ROW_BYTES) // 4, 0xABCDEF, np.uint32).view(np.uint8)
    whole = np.concatenate([own, STREAM])

    assert misuse(traffic(sent=FIELD, back=STREAM, rows=2), [FIELD, 0.1], [whole]) == ""
    assert misuse(traffic(sent=FIELD, back=STREAM, rows=1), [FIELD, 0.1], [whole]) != ""


def test_launches_do_not_carry_the_field() -> None:
    told = misuse(traffic(sent=FIELD, back=STREAM, arguments=4000), [FIELD], [STREAM])

    assert told.startswith("launches and options carried 4000 values, more than 67")


def test_small_integers_may_go_in_a_word_each() -> None:
    codes = np.arange(3000, dtype=np.uint16)

    told = misuse(
        Traffic([codes.astype(np.uint32).tobytes()], [codes.tobytes()], 0, False, 1, 1),
        [codes],
        [codes],
    )

    assert told == ""


def test_rows_that_have_nothing_to_work_on_have_no_words_of_their_own() -> None:
    own = (np.arange(2000, dtype=np.uint32) ^ 0x5A5A5A5A).view(np.uint8)

    told = misuse(traffic(sent=FIELD, back=STREAM, rows=900), [FIELD, 0.1], [own])

    assert told.startswith("2000 of the words returned did not come back")


def test_a_transposition_is_no_choice_of_words() -> None:
    turned = np.ascontiguousarray(FIELD.reshape(50, 80).T)
    words = STREAM.view(np.uint32)

    told = misuse(traffic(sent=turned, back=words), [FIELD], [words.reshape(40, 50).T.reshape(-1)])

    assert told == ""


@pytest.mark.parametrize("distinct", [3, 50, 300, 2000, 1 << 20])
def test_every_second_word_may_be_left_out_however_often_words_occur(distinct: int) -> None:
    back = np.random.default_rng(5).integers(1, distinct + 1, 20_000).astype(np.uint32)

    told = misuse(traffic(sent=FIELD, back=back), [FIELD], [back[1::2].copy()])

    assert told == ""


def test_words_sent_in_an_order_of_the_hosts_choosing_are_data_of_its_own() -> None:
    chosen = FIELD[np.random.default_rng(1).permutation(FIELD.size)]

    told = misuse(traffic(sent=chosen, back=STREAM), [FIELD], [STREAM])

    assert told.startswith("words copied to the device follow each other in another order")


def test_words_picked_from_a_table_that_the_device_made_are_the_hosts_choice() -> None:
    table = np.arange(1, 257, dtype=np.uint32) * 77777
    picked = table[np.random.default_rng(2).integers(0, 256, 5000)]

    told = misuse(traffic(sent=FIELD, back=np.tile(table, 60)), [FIELD], [picked])

    assert told.startswith("words returned follow each other in another order")


def test_halves_of_words_carry_no_more_than_words() -> None:
    # Among so many values, every half that one could wish for occurs somewhere.
    values = np.random.default_rng(3).integers(0, 1 << 32, 400_000, np.uint64).astype(np.uint32)
    made = np.random.default_rng(4).integers(0, 1 << 16, 20_000).astype(np.uint16)
    narrow = Traffic([made.tobytes()], [made.tobytes()], 0, True, 1, 1)

    told = misuse(narrow, [values.view(np.float32)], [made.view(np.uint8)])

    assert told.startswith("words copied to the device follow each other in another order")
