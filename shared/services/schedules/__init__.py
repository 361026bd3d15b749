"""Polls an account's job schedules. Imports `round`."""
