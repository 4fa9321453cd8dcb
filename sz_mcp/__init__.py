"""The server, the command line and the one evaluation pipeline."""

from importlib.metadata import version

__version__ = version("sz-mcp")
