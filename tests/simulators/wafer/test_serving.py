"""What a host can ask of a machine, over the protocol, with a machine of a few lines."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulators.wafer.host import Host
from simulators.wafer.program_files import ProgramFileError, load_program
from simulators.wafer.protocol import ProtocolError, pack, receive, send, unpack
from simulators.wafer.serving import serve

from .fake_machine import IN, OUT, A, FakeMachine, N, Said, answers, assertion, program


def loaded(**settings: Any) -> tuple[Host, FakeMachine]:
    device = FakeMachine(program(), **settings)
    host = Host(lambda _: device, lambda _: device.program)
    reply, _ = host.answer({"do": "load", "name": "out"}, b"")
    assert reply["machine"] == 1
    return host, device


def ask(host: Host, payload: bytes = b"", **header: Any) -> tuple[Any, bytes]:
    return host.answer(answers(header), payload)


def error(host: Host, payload: bytes = b"", **header: Any) -> str:
    reply, data = ask(host, payload, **header)
    assert not data
    return str(reply["error"])


def words(*values: int) -> bytes:
    return np.array(values, "<u4").tobytes()


# --- the protocol --------------------------------------------------------------------------------


def test_a_message_is_what_it_was() -> None:
    header, payload = {"do": "h2d", "text": "µ", "list": [1, 2]}, bytes(range(256))
    assert unpack(pack(header, payload)) == (header, payload)
    assert unpack(pack({})) == ({}, b"")


@pytest.mark.parametrize("damage", [b"", b"\1\0", pack({"a": 1})[:-1], pack({}) + b"x"])
def test_a_damaged_message_is_refused(damage: bytes) -> None:
    with pytest.raises(ProtocolError):
        unpack(damage)


def test_a_header_has_to_be_an_object() -> None:
    with pytest.raises(ProtocolError, match="isn't an object"):
        unpack(pack([1]))  # type: ignore[arg-type]


def test_a_server_answers_until_the_other_end_closes() -> None:
    host, _ = loaded()
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=serve, args=(theirs, host))
    thread.start()
    with ours:
        send(ours, answers({"do": "h2d", "symbol": 0}), words(*range(24)))
        assert receive(ours) == ({"ticket": 1, "done": True}, b"")
        send(ours, answers({"do": "d2h", "symbol": 0}))
        reply = receive(ours)
        assert reply is not None
        assert reply[1] == words(*range(24))
    thread.join(10)
    theirs.close()
    assert not thread.is_alive()


def test_a_stream_that_ends_within_a_message_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(pack({"do": "stop"})[:-2])
        with pytest.raises(ProtocolError, match="ends within"):
            receive(theirs)


# --- loading -------------------------------------------------------------------------------------


def test_loading_tells_what_the_program_is() -> None:
    device = FakeMachine(program())
    host = Host(lambda _: device, lambda _: device.program)
    reply, _ = host.answer({"do": "load", "name": ""}, b"")
    assert (reply["width"], reply["height"], reply["offset"]) == (2, 3, [4, 1])
    assert [one["name"] for one in reply["exports"]] == ["A", "n", "add", "fixed", "mix"]
    assert reply["streams"] == [{"color": IN, "to_host": False}, {"color": OUT, "to_host": True}]


def test_a_folder_without_a_program_is_an_error(tmp_path: Path) -> None:
    host = Host(lambda made: FakeMachine(made))
    reply, _ = host.answer({"do": "load", "name": str(tmp_path)}, b"")
    assert reply["kind"] == "file"
    assert "is missing: compile the program" in reply["error"]
    with pytest.raises(ProgramFileError):
        load_program(tmp_path)


def test_requests_need_a_machine_and_a_name_that_is_known() -> None:
    host, _ = loaded()
    assert error(host, do="fly") == "there is no request 'fly'"
    assert "there is no machine 7" in error(host, do="stop", machine=7)
    assert "a bad request" in error(host, do="d2h", symbol=0, rectangle=[1])


# --- copies --------------------------------------------------------------------------------------


def test_copies_go_where_the_pointer_points_row_by_row() -> None:
    host, device = loaded()
    ask(host, words(*range(24)), do="h2d", symbol=0)
    assert device.read(1, 0, A, 16) == words(4, 5, 6, 7)
    assert device.read(0, 2, A, 16) == words(16, 17, 18, 19)
    _, data = ask(host, do="d2h", symbol=0, rectangle=[1, 1, 1, 2], count=2)
    assert data == words(12, 13, 20, 21)


def test_sixteen_bit_copies_take_two_bytes_each() -> None:
    host, device = loaded()
    ask(host, np.arange(6, dtype="<i2").tobytes(), do="h2d", symbol=1, count=1, bits=16)
    assert device.read(1, 2, N, 2) == (5).to_bytes(2, "little")
    _, data = ask(host, do="d2h", symbol=1, count=1, bits=16)
    assert data == np.arange(6, dtype="<i2").tobytes()


def test_one_row_or_column_can_be_given_to_all() -> None:
    host, device = loaded()
    ask(host, words(*range(12)), do="h2d", symbol=0, spread="row")
    assert device.read(0, 1, A, 16) == device.read(1, 1, A, 16) == words(4, 5, 6, 7)
    ask(host, words(*range(8)), do="h2d", symbol=0, spread="column")
    assert device.read(1, 0, A, 16) == device.read(1, 2, A, 16) == words(4, 5, 6, 7)


def test_copies_into_the_machine_that_would_leave_the_variable_are_refused() -> None:
    host, device = loaded()
    told = error(host, words(*range(30)), do="h2d", symbol=0, count=5)
    assert told == '"A" at PE (0, 0): 20 bytes are asked for, but `A: [4]u32` has 16'
    device.memory[0, 0, 16] = 200
    assert "is a pointer that holds 200, where no variable is" in error(
        host, words(*range(24)), do="h2d", symbol=0
    )


def test_copies_from_the_machine_that_leave_the_variable_get_what_follows_and_a_warning() -> None:
    host, device = loaded()
    device.memory[2, 1, 16] = 112
    reply, data = ask(host, do="d2h", symbol=0)
    assert len(data) == 6 * 16
    assert reply["warnings"] == [
        '"A" at PE (1, 2): 16 bytes are asked for, but `A: [4]u32` has 4 from there on;'
        " what follows it in memory is given"
    ]
    device.memory[0, 0, 16] = 200
    assert "is a pointer that holds 200, where no variable is" in error(host, do="d2h", symbol=0)


def test_wrong_copies_are_refused_with_what_is_right() -> None:
    host, _ = loaded()
    assert "12 values for 6 PEs of 4" in error(host, words(*range(12)), do="h2d", symbol=0)
    assert 'launch("add", …) starts it' in error(host, do="d2h", symbol=2)
    assert "can't be written" in error(host, words(*range(24)), do="h2d", symbol=3)
    assert "there is no symbol 9" in error(host, do="d2h", symbol=9)
    assert "is not inside the program's 2 x 3" in error(
        host, do="d2h", symbol=0, rectangle=[1, 0, 2, 1]
    )
    assert "is empty" in error(host, do="d2h", symbol=0, rectangle=[1, 0, 0, 1])


# --- launches ------------------------------------------------------------------------------------


def test_arguments_become_register_values() -> None:
    host, device = loaded()
    minus = {"dtype": "<i2", "value": np.int16(-3).tobytes().hex()}
    ask(host, do="launch", name="add", arguments=[minus])
    half = {"dtype": "<f4", "value": np.float32(0.5).tobytes().hex()}
    ask(host, do="launch", name="mix", arguments=[{"value": 7}, half])
    ask(host, do="launch", name="mix", arguments=[{"value": 7}, {"value": 1}])
    assert device.calls == ["add(-3)", "mix(7, 1056964608)", "mix(7, 1065353216)"]


def test_arguments_of_another_type_or_number_are_refused() -> None:
    host, _ = loaded()
    wide = {"dtype": "<i4", "value": "00000000"}
    told = error(host, do="launch", name="add", arguments=[wide])
    assert told == 'argument 1 of "add", a `fn(i16)void`: numpy.int16 is needed, not numpy.int32'
    large = [{"value": 40000}]
    assert "does not fit int16" in error(host, do="launch", name="add", arguments=large)
    assert "is no int16" in error(host, do="launch", name="add", arguments=[{"value": 0.5}])
    assert "with 1 argument, not 0" in error(host, do="launch", name="add", arguments=[])
    assert "there are: add, mix" in error(host, do="launch", name="A", arguments=[])


# --- order ---------------------------------------------------------------------------------------


def test_commands_that_do_not_block_are_done_in_order_when_one_is_waited_for() -> None:
    host, device = loaded()
    none = {"value": 1}
    ask(host, words(*range(24)), do="h2d", symbol=0, nonblock=True)
    ask(host, do="launch", name="add", arguments=[none], nonblock=True)
    reply, _ = ask(host, do="d2h", symbol=0, nonblock=True)
    assert device.calls == []
    _, data = ask(host, do="wait", ticket=reply["ticket"])
    assert data == words(*range(24))
    assert device.calls == ["write"] * 6 + ["add(1)"]


def test_a_stream_goes_first_when_the_program_waits_for_it() -> None:
    host, device = loaded(needed=2)
    ask(host, do="launch", name="add", arguments=[{"value": 1}], nonblock=True)
    ask(host, do="launch", name="add", arguments=[{"value": 2}], nonblock=True)
    one: Any = {"rectangle": [0, 0, 1, 1], "count": 2}
    reply, _ = ask(host, words(5, 6), do="send", color=IN, **one)
    assert "error" not in reply
    assert device.calls == ["add(1)", "send", "add(2)"]


def test_streams_are_received_in_the_order_of_the_requests() -> None:
    host, _ = loaded()
    one: Any = {"rectangle": [1, 0, 1, 2], "count": 2}
    first, _ = ask(host, do="receive", color=OUT, nonblock=True, **one)
    second, _ = ask(host, do="receive", color=OUT, nonblock=True, **one)
    ask(host, words(1, 2, 3, 4), do="send", color=IN, **one)
    ask(host, words(5, 6, 7, 8), do="send", color=IN, **one)
    assert ask(host, do="wait", ticket=second["ticket"])[1] == words(6, 7, 8, 9)
    assert ask(host, do="wait", ticket=first["ticket"])[1] == words(2, 3, 4, 5)


def test_stopping_completes_what_nobody_waited_for() -> None:
    host, _ = loaded()
    one: Any = {"rectangle": [0, 0, 1, 1], "count": 1}
    later, _ = ask(host, do="receive", color=OUT, nonblock=True, **one)
    ask(host, words(8), do="send", color=IN, nonblock=True, **one)
    reply, _ = ask(host, do="stop")
    assert reply == {"cycles": 10}
    assert ask(host, do="wait", ticket=later["ticket"])[1] == words(9)


def test_a_colour_that_is_no_stream_of_this_direction_is_refused() -> None:
    host, _ = loaded()
    told = error(host, words(1), do="send", color=OUT, rectangle=[0, 0, 1, 1], count=1)
    assert told == (
        f"colour {OUT} is not a stream from the host (this program's: {IN}): give it to"
        " <memcpy/get_params> as .MEMCPYH2D_1"
    )
    assert "MEMCPYD2H_1" in error(host, do="receive", color=IN)


# --- ends ----------------------------------------------------------------------------------------


def test_a_program_that_halts_is_told_with_its_place() -> None:
    host, device = loaded()
    device.fails = assertion("@assert failed: n > 0")
    reply, _ = ask(host, do="d2h", symbol=0)
    assert reply["error"] == "@assert failed: n > 0 [PE (1, 0), task main, cycle 77]"
    assert (reply["kind"], reply["halt"]["kind"], reply["halt"]["x"]) == ("halt", "assert", 1)


def test_a_program_that_goes_no_further_is_told_with_who_waits() -> None:
    host, _ = loaded(needed=1)
    ask(host, do="launch", name="add", arguments=[{"value": 1}])
    reply, _ = ask(host, do="d2h", symbol=0)
    assert reply["error"] == "no PE called unblock_cmd_stream()"
    assert reply["halt"] == {"kind": "deadlock", "text": reply["error"], "silent": [[1, 2]]}


def test_words_that_never_come_are_told() -> None:
    host, _ = loaded()
    told = error(host, do="receive", color=OUT, rectangle=[0, 0, 1, 2], count=1)
    assert told == "2 wait"


# --- what is printed and kept --------------------------------------------------------------------


def test_what_programs_print_comes_with_the_next_answer_once() -> None:
    host, device = loaded()
    device.log = [Said(5, 1, 0, 0, 0), Said(6, 0, 0, 2, -4), Said(7, 0, 0, 1, 12, 1)]
    reply, _ = ask(host, do="cycles")
    assert reply == {"cycles": 0, "printed": [[5, 1, 0, "begin\n"], [6, 0, 0, "-4"]]}
    assert "printed" not in ask(host, do="cycles")[0]


def test_traces_are_kept_by_place_and_key() -> None:
    host, device = loaded()
    device.log = [Said(7, 0, 0, 1, 12, 1), Said(8, 1, 0, 3, 9, 1), Said(9, 0, 0, 0, 0, 1)]
    ask(host, do="cycles")
    assert ask(host, do="traces", x=0, y=0, key="trace")[0] == {"values": [12, "begin\n"]}
    assert ask(host, do="traces", x=0, y=0, key="other")[0] == {"values": []}


def test_variables_are_read_by_their_names() -> None:
    host, device = loaded()
    device.write(1, 1, A, words(1, 2, 3, 4))
    reply, data = ask(host, do="read", x=1, y=1, name="A")
    assert (reply["type"], data) == ("[4]u32", words(1, 2, 3, 4))
    assert "has no variable `B` in memory; it has: ptr, n, A" in error(
        host, do="read", x=1, y=1, name="B"
    )
    assert "is not inside" in error(host, do="read", x=2, y=1, name="A")
