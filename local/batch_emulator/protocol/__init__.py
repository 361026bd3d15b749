"""Requests and responses of the Batch REST API: authentication, versions, bodies, conditions, lists, rules of values.

Imports everything that describes or simulates accounts, and nothing of single operations.
"""
