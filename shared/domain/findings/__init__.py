"""The shape of everything that the app concludes, and the thresholds of the rules that conclude. Imports nothing.

It lies below the subjects, so that rules about nodes, pools, jobs and accounts have one shape. `explain` holds those on
why a job doesn't run.
"""
