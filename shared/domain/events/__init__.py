"""Events of Batch's resource logs and of nodes: their records, storage form, lists and sentences.

Imports `core` and `redaction`.
"""
