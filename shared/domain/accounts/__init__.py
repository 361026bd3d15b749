"""Watched accounts: their names, access rights, whether they are polled, and polls on demand.

Imports `core`.
"""
