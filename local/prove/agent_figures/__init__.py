"""`prove agent-figures`: the figures of node agents are true, on real processes with known behaviour.

`workloads` runs as tasks, `truths` and `node_totals` know what they used, `judging` and `node_judging` compare.
"""
