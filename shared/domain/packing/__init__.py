"""Column encodings of a leaf: ids, numbers and repeated values in few bytes, and arithmetic on whole columns.

This package knows nothing of tasks. Imports `core`.
"""
