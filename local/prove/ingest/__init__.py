"""`prove ingest`: blobs are ingested exactly once. Writers of blobs, their book, and the comparison with the API.

`forms` and `samples` also offer telemetry in every format to `prove soak`.
"""
