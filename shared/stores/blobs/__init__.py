"""Blob Storage, and how far each blob was read. Imports `tables`."""
