"""Reads what blobs have grown by, each piece once, whichever kind of blob it is.

Imports stores; the kinds are in `events` and `telemetry`.
"""
