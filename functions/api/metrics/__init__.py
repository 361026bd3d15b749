"""GET metrics: Prometheus families, one module of series for each kind of objects.

Imports no other package of the API.
"""
