"""Bound modes that a kernel knows nothing of: what the server wraps around an absolute bound.

`pointwise` turns data into something whose absolute bound is a relative one of every element;
`search` looks for the absolute bound that reaches a target. Both are pure.
"""
