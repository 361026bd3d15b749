"""Reads the cached tasks of a job for lists, timelines and details. Imports stores and `queries`."""
