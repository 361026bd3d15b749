"""Gathers the evidence why a job doesn't run, from storage and from Batch, and that of a pool's queue from storage.

Imports `events`, `queries` and `tasks`.
"""
