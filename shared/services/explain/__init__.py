"""Gathers the evidence why a job doesn't run, from storage and from Batch.

Imports `events`, `queries` and `tasks`.
"""
