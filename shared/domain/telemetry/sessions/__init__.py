"""Who writes a blob, from when to when, and what is kept of each step of reading it.

Imports all of telemetry but `query`.
"""
