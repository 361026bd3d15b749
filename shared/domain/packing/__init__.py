"""Columns of a leaf: ids, numbers and repeated values in few bytes, and arithmetic on whole columns.

Knows nothing of tasks. Imports `core`.
"""
