"""Pools and their nodes. Imports `tables`, and `accounts` and `jobs` for row formats."""
