"""From the bytes of a blob to records, within bounds: frames, text, JSON, line protocol.

Imports `records` and `catalog`.
"""
