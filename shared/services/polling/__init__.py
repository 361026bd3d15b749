"""Ticks, rounds of whole accounts, polls on demand and the queue. Imports all that a round consists of."""
