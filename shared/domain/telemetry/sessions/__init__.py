"""Sessions of the agents that write a blob, and the ingestion of each step of reading it.

Imports all of telemetry but `query`.
"""
