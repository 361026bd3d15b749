"""Ingests node telemetry, rolls it up to hours, and answers queries for measurements of nodes and tasks.

Imports `blobs`, `events` and `queries`.
"""
