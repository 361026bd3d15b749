"""Which series, minutes and task runs somebody asks for, out of what is stored.

Imports `rollups`, `catalog` and `records`.
"""
