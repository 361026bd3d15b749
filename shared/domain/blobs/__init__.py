"""Growing blobs: how far each was read, the results of sweeps over them, and rejected units.

Imports `telemetry` only for its totals.
"""
