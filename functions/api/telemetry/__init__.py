"""Routes of measurements: of a node, and of the node of a task while that ran.

Imports `jobs`, for the parameters and ranges of histories.
"""
