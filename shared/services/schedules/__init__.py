"""Looks at an account's job schedules. Imports `round`."""
