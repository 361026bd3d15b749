"""`prove agent-figures`: the figures of node agents are true, on real processes with known behaviour.

`workloads` runs as tasks, `truths` and `node_totals` have the true use of them, `judging` and `node_judging` compare.
"""
