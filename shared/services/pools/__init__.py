"""Rounds over an account's pools and nodes, and their rows with their history. Imports `round`."""
