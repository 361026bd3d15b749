"""Backups and restores run as programs, and the comparison of what came back."""
