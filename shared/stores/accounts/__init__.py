"""Rows of an account: its rounds, its monitoring settings, and polls on demand. Imports `tables`."""
