"""Events of Batch's resource logs: records, how they are kept, listed and put into sentences.

Imports `core` and `redaction`.
"""
