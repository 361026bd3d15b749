"""Money of pools and jobs: which node seconds and slot seconds cost how much, and to what they are allocated.

Imports usage, prices and timeline. Amounts are decimals of one currency; seconds are integer milliseconds.
"""
