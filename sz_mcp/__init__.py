"""The server, the command line and the one evaluation pipeline."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("sz-mcp")
except PackageNotFoundError:
    # A source tree on PYTHONPATH that was never installed.
    __version__ = "0.0.0+source"
