"""Jobs: Batch's facts, task counts as of a time, how sure these are, and when the job will complete.

Imports `tasks`, `reads` and `history`.
"""
