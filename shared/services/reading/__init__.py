"""Reads task lists into the cache: deltas, first reads, repairs, long reads, and the comparison with counts.

Imports `jobs` and stores.
"""
