"""A pool as Batch describes it and its nodes in numbers: settings, sizes, resize errors, samples.

Imports `nodes`, `history` and `jobs`.
"""
