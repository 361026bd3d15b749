"""The cached tasks of a job as lists, timelines and details want them. Imports stores and `queries`."""
