"""Pools, their nodes and their history. Imports `tables`, and `accounts` and `jobs` for row formats."""
