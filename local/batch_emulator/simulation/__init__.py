"""The lives of tasks, nodes, pools, jobs and job schedules: all state changes over time.

Imports `core`, `entities`, `state`, `formulas` and `telemetry`, and nothing of requests.
"""
