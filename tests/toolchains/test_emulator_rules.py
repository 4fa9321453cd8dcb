"""Rules on counts of emulated kernels: each for what it is about, and none for a clean kernel."""

from dataclasses import replace
from typing import Any

import pytest

from toolchains.feedback.emulator_rules import RULES, SHOWN, Facts, advise

CLEAN = Facts(
    passes=1.0, contended=1.0, narrow=0.2, least_blocks=4096, units=132, threads=256, launches=2
)
CASES: dict[str, dict[str, Any]] = {
    "race": {"race": "store at k.cu:3 and load at k.cu:5"},
    "uncoalesced": {"uncoalesced": 32.0, "uncoalesced_place": "k.cu:7"},
    "bank-conflicts": {"passes": 32.0, "passes_place": "k.cu:8"},
    "contention": {"contended": 32.0, "contended_place": "k.cu:9"},
    "divergence": {"divergent": 0.5, "divergent_place": "k.cu:10"},
    "tiny-grid": {"least_blocks": 4},
    "low-occupancy": {"occupancy": 25.0},
    "small-blocks": {"threads": 32},
    "no-vector-loads": {"narrow": 1.0},
    "many-launches": {"launches": 12},
}


def test_a_clean_kernel_is_told_nothing() -> None:
    assert advise(CLEAN) == ()


def test_nothing_counted_is_told_nothing() -> None:
    assert advise(Facts()) == ()


@pytest.mark.parametrize("name", CASES)
def test_each_rule_is_told_for_its_case_alone_with_its_facts_in_words(name: str) -> None:
    facts = CASES[name]
    (only,) = advise(replace(CLEAN, **facts))
    assert only.rule == name
    assert "{" not in only.explanation
    assert only.suggestion
    for text in facts.values():
        assert not isinstance(text, str) or text in only.explanation


def test_every_rule_has_a_case_and_the_weightiest_come_first() -> None:
    assert [rule.name for rule in RULES] == list(CASES)
    everything = {k: v for facts in CASES.values() for k, v in facts.items()}
    told = advise(replace(CLEAN, **everything))
    assert [one.rule for one in told] == list(CASES)[:SHOWN]
