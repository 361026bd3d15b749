"""Telemetry of pools: values of nodes by minute, packed for many nodes together, and statistics over nodes.

Imports `query`, `rollups`, `catalog` and `records`.
"""
