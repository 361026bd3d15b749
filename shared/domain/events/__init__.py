"""Events of Batch's resource logs: their records, storage form, lists and sentences.

Imports `core` and `redaction`.
"""
