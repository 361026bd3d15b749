"""The dashboard: the function that serves every address outside the API, and the files that it answers with.

Imports `http`, and of `api` only the endpoints.
"""
