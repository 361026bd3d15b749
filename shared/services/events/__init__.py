"""Ingests Batch's resource logs, and answers questions about their events. Imports `blobs`."""
