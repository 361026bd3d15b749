"""`prove outputs`: keeping outputs costs polling nothing while 100,000 tasks fail within a minute.

`failing_job` and `usual_jobs` are the load, `observing` looks at rounds, ages, requests and the host, `kept_outputs` at
what was kept, `judging` holds all of it against the bars, and `report` writes the results.
"""
