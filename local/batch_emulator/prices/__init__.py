"""Prices in the shape of the Azure Retail Prices API: a catalogue of invented prices, its oddities, and its queries.

Imports `core` and `entities`, and the syntax of `filtering`.
"""
