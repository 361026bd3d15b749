"""Measurements of single Batch tasks, from the processes that belong to them."""
