"""The state of one account's round, and the polls of its jobs. Imports `jobs` and `reading`."""
