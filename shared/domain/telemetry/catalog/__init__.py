"""Which measurements are known, and the series, units and kinds that become of their fields.

Imports `records` and `redaction`.
"""
