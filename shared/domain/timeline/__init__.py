"""Timelines of a job's tasks by node. Imports `leaves` and `tasks`."""
