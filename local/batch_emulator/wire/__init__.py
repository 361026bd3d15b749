"""Entities as the JSON of the Batch REST API.

Imports `protocol` and everything below it.
"""
