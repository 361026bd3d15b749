"""Measurements of emulated nodes, as an agent on them would make them.

Imports `core`, `entities` and `state`; writing them to storage is the job of `exports`.
"""
