"""Offers the node agent: its file in storage, the start task of a pool, and which nodes report.

Imports `queries` and `telemetry`.
"""
