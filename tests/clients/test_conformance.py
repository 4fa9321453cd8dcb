"""The official conformance suite, for both sets of requirements: every scored scenario passes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.clients import install, servers
from tests.clients.conftest import Tool

_SCORED = re.compile(r"^server:\n((?:  - \S+\n)+)", re.MULTILINE)


def scored(version: str) -> set[str]:
    """The scenarios that a revision of the protocol requires of a server."""
    package = install.MODULES / "@modelcontextprotocol" / "conformance"
    text = (package / "requirements" / f"{version}.yaml").read_text(encoding="utf-8")
    found = _SCORED.search(text)
    assert found is not None
    return set(re.findall(r"- (\S+)", found.group(1)))


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_every_scored_scenario_passes(tmp_path: Path, npm_tool: Tool, version: str) -> None:
    server = [sys.executable, "-m", "tests.clients.fixtures_server", str(tmp_path / "home")]
    with servers.started(server) as url:
        ended = npm_tool("conformance", "server", "--url", url, "--requirements", version)

    passed = set(re.findall(r"^✓ ([\w-]+): \d+ passed, 0 failed", ended.stdout, re.MULTILINE))
    assert scored(version) - passed == set(), ended.stdout[-4000:]
    assert len(scored(version)) >= 30
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr
