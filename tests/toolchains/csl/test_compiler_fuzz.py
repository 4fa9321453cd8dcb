"""A slice of `fuzz_compiler` over our own programs."""

from __future__ import annotations

from tests.toolchains.csl.fuzz_compiler import Fuzz
from tests.toolchains.csl.test_checks_seeded import _own


def test_edited_programs_give_only_diagnostics() -> None:
    fuzz = Fuzz(_own())
    for seed in range(150):
        fuzz.once(seed)

    assert fuzz.failures == {}
    # Some edits change nothing that matters, most do.
    assert 0 < fuzz.compiled < fuzz.tried
