"""Gathers what explains why a job doesn't run: what is stored, and what Batch can be asked.

Imports `queries` and `tasks`.
"""
