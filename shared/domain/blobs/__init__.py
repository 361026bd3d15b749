"""Blobs that grow: how far each was read, how a sweep over them went, and what couldn't be read.

Imports `telemetry` for its totals alone.
"""
