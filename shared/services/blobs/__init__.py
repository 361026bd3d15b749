"""Reads the growth of blobs of any kind, each piece exactly once.

Imports stores; the kinds of blobs are in `events` and `telemetry`.
"""
