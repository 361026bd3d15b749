"""Table Storage for all other stores: opening, pages, transactions, time limits, rows of other versions.

Imports no other store.
"""
