"""What is said of a stage that fails on its suite: of the case that tells most, by names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kernels.records import Failure, Submission, Verdict
from sz_mcp.answers import View, verify_reply
from sz_mcp.asked import Asked
from sz_mcp.texts import text_of
from tests.toolchains.crowd import Crowd
from tests.toolchains.wrong_stages import WRONG
from toolchains.base import Cancellation
from toolchains.children.pool import Pool
from toolchains.children.session import ChildSession, open_session
from toolchains.feedback import guidance_for

ITEMS: dict[str, str] = {
    "stage-scalar": "return x.view(np.int32), np.ones(x.size, np.uint8), 0.5",
    "stage-item": "return x.view(np.int32), [1], np.float32(0.5)",
}
"""Rule → what `run` of quantize returns in place of arrays."""


@pytest.fixture(scope="module")
def crowd(pool: Pool) -> Iterator[Crowd]:
    with Crowd(pool, {name: wrong.source for name, wrong in WRONG.items()}) as crowd:
        yield crowd


def text(verdict: Verdict) -> str:
    asked = Asked("verify_bounds", "r_1", "k_1", "suite", "rel", 1e-3)
    guidance = guidance_for(verdict.failure, "numba")
    return text_of(verify_reply(asked, verdict, guidance, View()))


@pytest.mark.parametrize("name", WRONG)
def test_a_stage_that_fails_on_its_suite_is_told_its_fault(crowd: Crowd, name: str) -> None:
    wrong = WRONG[name]

    failure = crowd.verify_suite(name, wrong.task).failure

    assert failure is not None
    (guidance,) = guidance_for(failure, "numba")
    assert guidance.rule == wrong.rule, failure
    assert wrong.says in guidance.explanation + guidance.suggestion
    assert wrong.message in failure.message


@pytest.mark.parametrize("rule", ITEMS)
def test_what_a_stage_returns_in_place_of_an_array_is_named(pool: Pool, rule: str) -> None:
    source = f"import numpy as np\n\ndef run(x, eb):\n    {ITEMS[rule]}\n"
    submission = Submission("quantize", "numba", {"kernel.py": source})
    session = open_session(pool, submission, ("run",), Cancellation())
    assert isinstance(session, ChildSession)
    items = ((np.ones(8, np.float32), 0.1),)
    failure = session.call("run", items, capacity=(1000,), deadline_s=20.0)
    session.close()

    assert isinstance(failure, Failure)
    named = {"stage-scalar": "item 2 (`step`) is float", "stage-item": "item 1 (`ok`) is list"}
    assert named[rule] in failure.message
    assert [g.rule for g in guidance_for(failure, "numba")] == [rule]


def test_a_case_is_told_by_the_names_and_forms_of_all_its_inputs(crowd: Crowd) -> None:
    told = text(crowd.verify_suite("decode: last symbol dropped", "huffman-decode"))

    assert (
        "case only_one_occurs (lens uint8[8], bits uint32[2], words uint32[157], n 5000), "
        "`codes` wanted from flat 4968: 3 ×32\n"
        "got: 3 ×31, 0\n" in told
    )
    assert "case one_with_16_bits (lens uint8[4], bits uint32[2], words" in told
    assert "input" not in told
    assert "only_one_occurs: 1 of 5000 values of `codes` are wrong" in told


def test_an_input_is_shown_beside_an_output_that_belongs_to_it(crowd: Crowd) -> None:
    told = text(crowd.verify_suite("lorenzo: first element dropped", "lorenzo-1d"))

    assert "input `q`: -2147483648, 2147483647, -1, 0" in told


def test_packed_bits_are_shown_in_hexadecimal(crowd: Crowd) -> None:
    told = text(crowd.verify_suite("pack: last word dropped", "bitpack"))

    assert "`words` wanted from flat 96: 0x0000001f ×32\n" in told
    assert "got: 0x0000001f ×31, 0x00000000\n" in told


def test_what_was_wanted_is_not_said_again_as_the_input(crowd: Crowd) -> None:
    told = text(crowd.verify_suite("quantize: too large is kept", "quantize"))

    assert "`x' = q * step` wanted from flat 12: -0.31650567, -1.1351576, -inf" in told
    assert "input" not in told


def test_a_stage_is_told_of_equality_and_not_of_a_bound(crowd: Crowd) -> None:
    told = text(crowd.verify_suite("lorenzo: first element dropped", "lorenzo-1d"))

    assert told.startswith("error at bound_ok: differs from the golden answer in 15 of 17 cases")
    assert "bound " not in told.partition("why:")[0].replace("bound_ok", "")
