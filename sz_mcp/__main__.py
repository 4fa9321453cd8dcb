"""`python -m sz_mcp`: the same as the `sz-mcp` command."""

from sz_mcp.cli import main

main()
