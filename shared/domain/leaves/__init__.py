"""The packed cache of a job's tasks: leaves, what they sum up to, and lists of tasks out of them.

Imports `tasks` and what that imports.
"""
