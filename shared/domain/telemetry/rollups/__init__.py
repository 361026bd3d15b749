"""From records to values by minute and hour, and how those are packed.

Imports `records`, `catalog` and `decode`.
"""
