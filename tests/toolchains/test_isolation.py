"""Each layer of isolation, alone and together, against a submission that tries to break out."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kernels.records import Submission
from toolchains.base import Cancellation, Reply
from toolchains.children.boxes import Doors, PlainIsolation
from toolchains.children.isolation import LAYERS, Layer, choose, confined, probed
from toolchains.children.pool import Pool
from toolchains.children.session import open_session

from .calls import compress_with, session_of

MEMORY_BYTES = 1 << 30
FILES = {"read_a_file", "read_the_servers_file", "write_elsewhere", "use_shared_memory"}
OTHERS = {"signal_the_server", "read_the_servers_memory"}
NETWORK = {"connect", "connect_locally"}
PROCESSES = {"fork", "start_a_program", "start_many_processes"}
CHANGES = {"change_modes", "change_times", "link", "place_the_server", "place_itself"}
KEPT = {"use_system_v_memory", "make_a_memory_file", "lock_a_file"}
LIMITS = {"write_a_large_file", "take_much_memory", "open_many_files"}
WITHOUT_POWERS = {"read_the_servers_memory", "place_the_server"}
"""What a child of root can't do because it has none of root's capabilities."""
EVERYTHING = {*FILES, *OTHERS, *NETWORK, *PROCESSES, *CHANGES, *KEPT, *LIMITS}
EVERYTHING |= {"limit_the_server", "list_the_root"}

Through = Callable[..., set[str]]


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Through]:
    """What a submission gets done with some layers only; all that is missing is skipped."""
    home = tmp_path_factory.mktemp("server")
    secret = ctypes.create_string_buffer(b"secret")
    (home / "file").write_text("secret")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        name = f"sz-mcp-test-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        given = {
            "ABSTRACT": name, "ADDRESS": ctypes.addressof(secret), "FILE": str(home / "file"),
            "FOLDER": str(home), "PORT": server.getsockname()[1], "SERVER": os.getpid(),
        }  # fmt: skip
        files = {
            "kernel.py": (Path(__file__).parent / "escapes.py").read_text(),
            "given.py": "".join(f"{key} = {value!r}\n" for key, value in given.items()),
        }
        yield lambda *layers: _tried(files, layers)


def _tried(files: dict[str, str], layers: tuple[str, ...]) -> set[str]:
    isolation = choose(frozenset(LAYERS) - set(layers))
    held = {layer.name for layer in isolation.layers() if layer.holds}
    if missing := set(layers) - held:
        pytest.skip(f"not on this machine: {', '.join(sorted(missing))}")
    pool = Pool(0, MEMORY_BYTES, isolation)
    try:
        submission = Submission("sz-open", "numba", files)
        session = session_of(open_session(pool, submission, ("compress",), Cancellation()))
        reply = compress_with(session, np.zeros(4, np.float32), deadline_s=60)
        assert isinstance(reply, Reply), reply
        session.close()
    finally:
        pool.close()
    return set(reply.outputs[0][0].tobytes().decode().split())


def test_limits_alone_stop_what_they_limit_and_nothing_else(through: Through) -> None:
    """So every other attempt is a real one: it succeeds where nothing stands in its way."""
    stopped = EVERYTHING - through()

    assert stopped >= LIMITS
    assert stopped <= LIMITS | WITHOUT_POWERS


def test_bubblewrap_alone_shows_neither_files_nor_processes_nor_networks(through: Through) -> None:
    stopped = EVERYTHING - through("bubblewrap")

    assert stopped >= FILES | OTHERS | NETWORK | LIMITS | {"start_a_program", "limit_the_server"}


def test_landlock_alone_keeps_files_and_processes_out_of_reach(through: Through) -> None:
    assert EVERYTHING - through("landlock") >= FILES | OTHERS | NETWORK | LIMITS | {"list_the_root"}


def test_seccomp_alone_refuses_what_a_kernel_has_no_use_for(through: Through) -> None:
    stopped = EVERYTHING - through("seccomp")

    assert stopped >= OTHERS | NETWORK | PROCESSES | CHANGES | KEPT | LIMITS


def test_a_control_group_alone_bounds_the_number_of_processes(through: Through) -> None:
    assert EVERYTHING - through("cgroup") >= {"start_many_processes", *LIMITS}


def test_without_bubblewrap_nothing_gets_through(through: Through) -> None:
    assert through("landlock", "seccomp") == set()


def test_without_landlock_nothing_gets_through_but_a_look_at_the_root(through: Through) -> None:
    assert through("bubblewrap", "seccomp") == {"list_the_root"}


def test_with_all_layers_nothing_gets_through(through: Through) -> None:
    assert through("bubblewrap", "landlock", "seccomp") == set()


@pytest.mark.parametrize(
    ("held", "enough"),
    [
        ({"bubblewrap", "seccomp", "rlimits"}, True),
        ({"landlock", "seccomp", "rlimits"}, True),
        ({"bubblewrap", "landlock", "cgroup", "rlimits"}, False),
        ({"seccomp", "cgroup", "rlimits"}, False),
        ({"rlimits"}, False),
    ],
)
def test_a_child_is_confined_by_system_calls_and_files(held: set[str], enough: bool) -> None:
    layers = [Layer(name, name in held, "") for name in (*LAYERS, "rlimits")]

    assert confined(layers) is enough


def test_a_layer_that_does_not_hold_is_found_out() -> None:
    outcome = probed(PlainIsolation("for a test", doors=Doors(landlock=False, seccomp=False)))

    assert outcome.reason == ""
    assert "listing the root" in outcome.through["landlock"]
    assert "fork" in outcome.through["seccomp"]
    assert outcome.through["bubblewrap"]


def test_an_unknown_layer_can_not_be_left_out() -> None:
    with pytest.raises(ValueError, match="no such layer: moat; known: bubblewrap, landlock"):
        choose(frozenset({"moat"}))
