"""Routes of pools and their nodes: lists, states, autoscale runs, queues and history.

Offers the JSON of cores and slots (`pool_models`). Imports `jobs`, for the JSON of verdicts, and for histories.
"""
