"""Decoders from a blob's bytes to records, within limits: frames, text, JSON, line protocol.

Imports `records` and `catalog`.
"""
