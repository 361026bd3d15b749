"""All runs of tasks, from Batch's events and cached tasks."""
