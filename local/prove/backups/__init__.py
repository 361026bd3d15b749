"""Runs backups and restores as programs, and compares the results."""
