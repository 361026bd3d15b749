"""Compute nodes: their states, why each is as it is, and how often they were lost. Imports `core`."""
