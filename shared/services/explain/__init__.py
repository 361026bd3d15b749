"""Gathers the evidence why a job doesn't run, from storage and from Batch.

Imports `queries` and `tasks`.
"""
