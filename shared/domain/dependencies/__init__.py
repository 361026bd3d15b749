"""Dependencies between tasks: which tasks hold which waiting ones, and which hold them permanently. Imports `core`."""
