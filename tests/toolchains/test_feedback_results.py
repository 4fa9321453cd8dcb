"""Each rule about wrong results, set off by kernels in a real child through the real checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernels import baselines
from kernels.tasks import TASKS
from tests.toolchains.crowd import Crowd
from tests.toolchains.small_kernels import CODEC, ENCODE, PACK, RAW, RAW_SZP, WALK, Wrong, running
from tests.toolchains.wrong_results import WRONG
from toolchains.children.pool import Pool
from toolchains.feedback import guidance_for

KERNELS: dict[str, tuple[str, Wrong]] = {
    f"{rule}-{i}": (rule, wrong) for rule, each in WRONG.items() for i, wrong in enumerate(each, 1)
}
RIGHT: dict[str, Wrong] = {
    "codec": Wrong(CODEC),
    "raw": Wrong(RAW),
    "szp-raw": Wrong(RAW_SZP.replace("FAIL", "return decoded_elsewhere"), "sz-open"),
    "bitpack-plain": running("bitpack", PACK),
    "huffman-plain": running("huffman-encode", ENCODE),
    **{name: Wrong(baselines.read(name, "naive").files["kernel.py"], name) for name in TASKS},
}
"""What the wrong ones were made of, and the worked submissions."""


@pytest.fixture(scope="module")
def crowd(pool: Pool) -> Iterator[Crowd]:
    sources = {name: wrong.source for name, (_, wrong) in KERNELS.items()}
    with Crowd(pool, sources | {name: right.source for name, right in RIGHT.items()}) as crowd:
        yield crowd


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_result_is_explained_by_the_rule_about_it(crowd: Crowd, name: str) -> None:
    rule, wrong = KERNELS[name]

    failure = crowd.verify(name, wrong.task, wrong.data, wrong.mode, wrong.bound).failure

    assert failure is not None
    (guidance,) = guidance_for(failure, "numba")
    assert guidance.rule == rule, (failure.message, failure.pattern)
    assert wrong.says in guidance.explanation + guidance.suggestion


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_gets_no_guidance(crowd: Crowd, name: str) -> None:
    verdict = crowd.verify(name, RIGHT[name].task, WALK)

    assert (verdict.holds, verdict.failure) == (True, None)
    assert guidance_for(verdict.failure, "numba") == ()


def test_a_stage_shows_input_golden_answer_and_output_side_by_side(crowd: Crowd) -> None:
    shown = crowd.verify("stage-first-1", "lorenzo-1d", WALK).counterexample

    assert shown is not None
    assert (shown.values[0], shown.decoded[0]) == (shown.inputs[0], "7777")
    assert len(shown.inputs) == len(shown.values) == len(shown.decoded)


def test_an_output_of_another_shape_than_the_input_is_shown_without_it(crowd: Crowd) -> None:
    shown = crowd.verify("extra-bits-1", "bitpack", WALK).counterexample

    assert shown is not None
    assert shown.inputs == ()
