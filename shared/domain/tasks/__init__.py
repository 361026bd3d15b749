"""One task and what many of them add up to: states, failures by cause, durations; and a task as it may be shown.

Imports `core`, `packing` and `redaction`.
"""
