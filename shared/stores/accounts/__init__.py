"""Rows of an account: its rounds, whether it is watched, polls on demand. Imports `tables`."""
