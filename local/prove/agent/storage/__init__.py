"""Azurite as agents see it: behind a proxy that injects faults, with limits of blobs, and containers that are deleted.

Offers `FaultyProxy`, `FaultPlan`, `Storage`, `ContainerLives` and shared access signatures. Imports `judging` for
stored blobs, nothing of nodes.
"""
