"""Compute nodes: states and their causes, interruptions and flapping. Imports `core`."""
