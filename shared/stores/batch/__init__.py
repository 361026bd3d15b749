"""Reads one Batch account through the official SDK, within the customer's quota; never writes.

Imports `tables` only for the time limit.
"""
