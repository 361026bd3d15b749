"""Ticks, rounds of whole accounts, polls on demand and the queue. Imports all parts of a round."""
