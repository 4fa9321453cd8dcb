"""The page of benches says everything that a spec may say, and only that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sz_mcp.bench import spec as models
from tests.sz_mcp.bench.specs import NAMES, spec

PAGE = Path(__file__).parents[3] / "docs" / "bench.md"
TEXT = PAGE.read_text(encoding="utf-8")
MODELS = (
    models.Spec,
    models.Budgets,
    models.Budget,
    models.Plateau,
    models.Parallel,
    models.LeftOut,
    models.Bound,
    models.ModelAgent,
    models.CommandAgent,
    models.SearchAgent,
    models.ReplayAgent,
    models.UsagePaths,
    models.Prices,
)


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_on_the_page(model: type[models.Part]) -> None:
    missing = [name for name in model.model_fields if f"`{name}" not in TEXT]
    assert missing == []


def test_the_example_is_a_spec() -> None:
    (example,) = [
        block for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.S) if "name:" in block
    ]
    found = spec(example)
    assert found.plateau is not None
    assert set(found.tasks) <= set(NAMES.tasks)


def test_the_command_on_the_page_is_an_agent() -> None:
    (block,) = [b for b in re.findall(r"```yaml\n(.*?)```", TEXT, re.S) if "claude:" in b]
    indented = "".join(f"  {line}\n" for line in block.splitlines())
    found = spec(
        f"name: x\nagents:\n{indented}tasks: [szp]\ntargets: [numba]\nfields: [sea_surface]\n"
    )
    assert found.agents["claude"].kind == "command"
