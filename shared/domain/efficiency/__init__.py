"""The efficiency of jobs: what their tasks used of what their slots offer, and what would have sufficed.

It imports what telemetry, pools and tasks offer. It offers sets of measured runs with their summaries for storage, and
reports with findings; `rules` has one a file.
"""
