"""CSL, the language of Cerebras' wafer-scale engine: from source to a program.

Phases, in the order in which they may import each other: source, lexer, nodes, parser; types,
values, tree, tile; evaluation, builtins, analysis; layout; checks; lower; compiler.
"""
