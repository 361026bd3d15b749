"""Nodes whose agents are started, killed, paused and restarted, and the watch on their spools.

Offers `Node` and `NodeStarter`, `Disruptions` (the schedule of disruptions), `LineFeeder`, `SpoolWatch`, `StallWatch`.
Imports `storage` for signatures and `judging` for spooled units, nothing of other proofs.
"""
