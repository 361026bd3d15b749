"""The parts of single benchmarks: stages, load, generated telemetry, and the cost model.

Imports `emulated` and `local`.
"""
