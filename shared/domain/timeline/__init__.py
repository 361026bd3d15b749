"""When each node ran which task of a job. Imports `leaves` and `tasks`."""
