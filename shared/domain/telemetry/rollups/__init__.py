"""Rollups of records by minute and hour, and their packed form.

Imports `records` and `catalog`.
"""
