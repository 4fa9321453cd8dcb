"""The matrix of a spec."""

from __future__ import annotations

from sz_mcp.bench.cells import cells_of
from tests.sz_mcp.bench.specs import SMALL, spec

MODELS = """\
name: matrix
agents:
  model: {kind: model, model: m, endpoint: scripted}
  hill: {kind: search, method: hill}
tasks: [szp, lorenzo-1d]
targets: [numba, "cuda:sm_90"]
fields: {default: [na_temperature], szp: [na_temperature, sea_surface]}
bounds: [1.0e-3, 1.0e-4]
prompt_tiers: [user, expert]
feedback_levels: [none, raw, suggest]
repeats: 3
"""


def test_every_combination_is_a_cell_once() -> None:
    cells = cells_of(spec(MODELS))
    # 3 repeats x 2 targets x 3 (task, field) x 2 bounds; models also by tier and level.
    assert len(cells) == 3 * 2 * 3 * 2 * (2 * 3 + 1)
    assert len({cell.cell_id for cell in cells}) == len(cells)


def test_what_reads_no_prompt_is_not_repeated_for_prompts() -> None:
    hill = [cell for cell in cells_of(spec(MODELS)) if cell.agent == "hill"]
    assert {(cell.prompt_tier, cell.feedback_level) for cell in hill} == {(None, "none")}
    assert len(hill) == 3 * 2 * 3 * 2


def test_repeats_are_the_outermost_loop() -> None:
    repeats = [cell.repeat for cell in cells_of(spec(MODELS))]
    assert repeats == sorted(repeats)


def test_cells_that_are_left_out_are_not_made() -> None:
    left = "leave_out:\n- {agent: model, target: 'cuda:sm_90'}\n- {task: szp, prompt_tier: user}\n"
    cells = cells_of(spec(MODELS + left))
    assert not [c for c in cells if c.agent == "model" and c.target == "cuda:sm_90"]
    assert not [c for c in cells if c.task == "szp" and c.prompt_tier == "user"]
    assert [c for c in cells if c.agent == "hill" and c.target == "cuda:sm_90"]


def test_a_cell_keeps_its_name() -> None:
    first = cells_of(spec(SMALL))[0]
    assert first.cell_id == "random.lorenzo-1d.numba.na_temperature.rel_0.001.r1"
