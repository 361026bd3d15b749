"""The state transitions of tasks, nodes, pools, jobs and job schedules over time.

Imports `core`, `entities`, `state`, `formulas` and `telemetry`, and nothing of requests.
"""
