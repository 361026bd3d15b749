"""Routes of the events that Batch logged, and of the ingestion of logs and telemetry.

Imports no other package of the API.
"""
