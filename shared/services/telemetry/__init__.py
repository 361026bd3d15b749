"""Node telemetry as a kind of blobs, its hours, and answers about what nodes and tasks measured.

Imports `blobs`, `events` and `queries`.
"""
