"""Tasks: states, failures by cause, durations, statistics of many tasks, and one task without its secrets.

Imports `core`, `packing` and `redaction`.
"""
