"""Proofs about costs: the table in FOCUS against its validator."""
