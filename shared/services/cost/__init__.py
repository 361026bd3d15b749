"""Usage of days, and what it costs: made from ledgers and cached tasks, and answered from stored days.

Imports accounts, jobs, prices, queries and tasks.
"""
