"""Accounts as rows of JSON in one SQLite file, and back.

Imports `simulation` and everything below it.
"""
