"""Blob Storage, and the checkpoint of each blob. Imports `tables`."""
