"""The catalog of known measurements: the series, units and kinds that their fields map to.

Imports `records` and `redaction`.
"""
