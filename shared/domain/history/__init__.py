"""Histories: samples of a resource's numbers over time, their storage slots, and the points of a requested series.

Imports `core`. A new kind of history, such as an account's or its cost, takes one module: a named tuple of its numbers,
and a `SampleKind` that decodes `Sample` of them (as `domain/pools/pool_samples.py` does). A `HistoryStore` with a
`KeySchema` stores it, a `HistoryRecords` writes it with the resource's row, and `Histories` answers queries.
"""
