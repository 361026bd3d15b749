"""Proofs about costs: a day against the emulator's own ledger of it, and the table in FOCUS against its validator."""
