"""Resource logs and node telemetry, written to blobs as Azure Monitor and an agent would.

Imports `emulator` and everything below it; runs beside requests.
"""
