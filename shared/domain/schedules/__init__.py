"""Job schedules, the jobs that they make, and the runs that they missed. Imports `jobs` and `tasks`."""
