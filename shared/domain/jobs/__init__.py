"""A job as Batch describes it, its counts as of a time, how sure they are, and when it will be done.

Imports `tasks`, `reads` and `history`.
"""
