"""Benches: agents × tasks × targets × fields × bounds × prompt tiers × feedback levels × repeats.

A spec (YAML) flows in, becomes cells, and each cell is one session of one agent with the server.
What happened is rows of the ledger, which is also the state that a resumed bench goes on from.
"""
