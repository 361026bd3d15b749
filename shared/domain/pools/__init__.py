"""Pools: Batch's facts, numbers of nodes, settings, sizes, resize errors and samples.

Imports `nodes`, `history` and `jobs`.
"""
