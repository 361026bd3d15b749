"""Nodes whose agents are started, killed, paused and restarted, and the watch on their spools.

Offers `Node` and `NodeStarter`, `Disruptions` (the schedule of disruptions), `DiskDisruptions` (that of full and
read-only disks), `NodeDisk`, `LineFeeder`, `SpoolWatch`, `StallWatch`.
Imports `storage` for signatures and `judging` for spooled units, nothing of other proofs.
"""
