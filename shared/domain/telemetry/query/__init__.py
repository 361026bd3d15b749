"""Queries of stored telemetry: the series, time ranges and task runs that a client asks for.

Imports `rollups`, `catalog` and `records`.
"""
