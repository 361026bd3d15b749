"""Routes of accounts: their state, whether they are polled, and polls on demand.

Imports `jobs` and `pools`, for the JSON of counts, cores and slots.
"""
