"""Job schedules, the jobs that they create, and missed runs. Imports `jobs` and `tasks`."""
