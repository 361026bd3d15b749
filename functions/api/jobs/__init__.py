"""Routes of jobs and their tasks: lists, details, failures, history, timelines and explanations.

Offers other packages the JSON of counts and verdicts (`job_models`), and the parameters and answers of histories
(`history`). Imports no other package of the API.
"""
