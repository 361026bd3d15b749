"""Records as agents write them: their form, the precision of their times, and who their writer is.

Imports `core` and `redaction`.
"""
