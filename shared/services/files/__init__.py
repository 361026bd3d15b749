"""Files of tasks and nodes, read from Batch when somebody opens them. Imports `accounts`, `queries` and `tasks`."""
