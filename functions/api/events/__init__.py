"""Routes of the events that Batch logged, and of the ingestion of logs and telemetry.

Imports `jobs`, for parameters of lists.
"""
