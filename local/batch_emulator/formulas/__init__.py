"""Autoscale formulas: syntax, values, functions, and the samples that their variables read.

Imports `core`, `entities` and `state`; decides nothing about pools.
"""
