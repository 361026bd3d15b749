"""Reads one Batch account through the official SDK, within the customer's quota. There is no writing here.

Imports `tables` for the limit on time alone.
"""
