"""Node telemetry: minutes, hours, totals, and on which days a node has any. Imports `tables` and `blobs`."""
