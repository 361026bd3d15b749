"""Routes of job schedules and their recent runs.

Imports `jobs`, for the JSON of counts and verdicts.
"""
