"""Requests and answers survive the way as bytes; anything else is refused."""

import json

import pytest

from kernels.diagnostics import Diagnostic
from simulators.simt.exchange import (
    Answer,
    Described,
    ExchangeError,
    Request,
    pack_answer,
    pack_request,
    unpack_answer,
    unpack_request,
)
from simulators.simt.records import (
    Bundle,
    Global,
    KernelInfo,
    ModuleInfo,
    Param,
    Rejected,
    Source,
    Unsupported,
    Variant,
)

_SOURCE = Source("code", "a.cu", "hip", 64, ("-DX=1",), ("f<int>",), {"b.h": "text"})
_REQUEST = Request(_SOURCE, Variant("k", (32, 2, 1), True, "checked"), "fibers")
_INFO = ModuleInfo(
    (KernelInfo("k", "_Z1k", (Param("x", 8, 8, True),), 128, 256),),
    (Global("g", "_Z1g", 4, 4, True, b"\x01\x00\xff\x02"),),
)
_SAID = (Diagnostic("error", "what", "a.cu", 3, None, "line"),)


def test_a_request_comes_back_as_it_was() -> None:
    assert unpack_request(pack_request(_REQUEST)) == _REQUEST
    assert unpack_request(pack_request(Request(_SOURCE))) == Request(_SOURCE)


@pytest.mark.parametrize(
    "answer",
    [
        Described(_INFO, _SAID),
        Bundle({"kernel": "k", "block": [32, 1, 1]}, b"\x7fELF\0"),
        Rejected(_SAID),
        Unsupported("because", 7),
    ],
)
def test_an_answer_comes_back_as_it_was(answer: Answer) -> None:
    assert unpack_answer(pack_answer(answer)) == answer


@pytest.mark.parametrize(
    "change",
    [
        {"engine": "magic"},
        {"extra": 1},
        {"source": None},
        {"source": {"code": 1, "file": "x"}},
        {"source": {"code": "x", "file": "x", "warp": 16}},
        {"source": {"code": "x", "file": "x", "options": "-O3"}},
        {"source": {"code": "x" * (2 << 20), "file": "x"}},
        {"variant": {"kernel": "k", "block": [0, 1, 1]}},
        {"variant": {"kernel": "k", "block": [2048, 1, 1]}},
        {"variant": {"kernel": "k", "block": [1, 1]}},
        {"variant": {"kernel": "k", "block": [1, 1, 1], "descending": "no"}},
        {"variant": {"kernel": "k", "block": [1, 1, 1], "hooks": "all"}},
    ],
)
def test_a_request_of_another_form_is_refused(change: dict[str, object]) -> None:
    told = json.loads(pack_request(_REQUEST)) | change
    with pytest.raises(ExchangeError):
        unpack_request(json.dumps(told).encode())


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"null", b"[]"])
def test_bytes_that_are_no_request_are_refused(raw: bytes) -> None:
    with pytest.raises(ExchangeError):
        unpack_request(raw)


@pytest.mark.parametrize("cut", [0, 3, 10])
def test_a_shortened_answer_is_refused(cut: int) -> None:
    with pytest.raises(ExchangeError):
        unpack_answer(pack_answer(Described(_INFO))[:cut])
