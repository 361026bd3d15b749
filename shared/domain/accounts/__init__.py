"""Watched accounts: their names, who may read them, whether they are polled, and polls on demand.

Imports `core`.
"""
