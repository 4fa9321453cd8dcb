"""What works on a cell: a model, a command, a search, or a replay; one module each.

Each speaks MCP to the server as any agent could, and knows nothing of it that a client can't see.
"""
