"""Discovers jobs, and loads and saves their rows with their history. Imports `history`."""
