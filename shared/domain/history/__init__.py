"""Samples of counts over time: where they are kept, and which points of them are asked for.

Imports `core` and `tasks`; jobs and pools keep their samples by it.
"""
