"""Histories: samples of counts over time, their storage slots, and the points of a requested series.

Imports `core` and `tasks`; jobs and pools store their samples with it.
"""
