"""Which waiting tasks are held by which others, and which of them for good. Imports `core`."""
