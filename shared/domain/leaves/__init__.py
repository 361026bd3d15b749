"""The packed cache of a job's tasks: leaves, their summaries, and lists of tasks read from them.

Imports `tasks` and its imports.
"""
