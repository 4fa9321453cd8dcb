"""What agents are told, tier by tier."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest

from sz_mcp.bench.prompting import digests, prompt_for
from sz_mcp.bench.spec import Bound, Budget, Mode, Tier
from tests.sz_mcp.bench.desks import cell


@pytest.mark.parametrize("tier", get_args(Tier))
@pytest.mark.parametrize("task", ["szp", "lorenzo-3d"])
def test_a_prompt_says_what_is_wanted(tier: Tier, task: str) -> None:
    told = prompt_for(replace(cell("model", task=task), prompt_tier=tier), Budget(calls=100))
    for wanted in (
        f"`{task}`",
        "`numba`",
        "`na_temperature`",
        "mode=rel, bound=0.001",
        "100 calls",
    ):
        assert wanted in told
    assert not re.search(r"\$\w", told)


@pytest.mark.parametrize("task", ["szp", "lorenzo-3d"])
def test_a_higher_tier_says_more(task: str) -> None:
    lengths = [
        len(prompt_for(replace(cell("model", task=task), prompt_tier=tier), Budget()))
        for tier in get_args(Tier)
    ]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == 3


@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_is_put_into_words(mode: Mode) -> None:
    asked = replace(cell("model"), bound=Bound(mode=mode, value=60))
    assert "60" in prompt_for(asked, Budget())


def test_the_texts_have_hashes() -> None:
    found = digests()
    assert {"task.md", "end.md", "expert-codec.md", "user-stage.md"} <= set(found)
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in found.values())
