"""Node telemetry: minutes, hours, totals, and the days of each node. Imports `tables` and `blobs`."""
