"""The operations of the Batch REST API, one module for each kind of resource.

Imports `wire` and everything below it; `http.routing` finds an operation for a request.
"""
