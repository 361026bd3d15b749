"""OData filters of lists: syntax, the properties that can be filtered, and predicates over entities.

Imports `core` and `entities`.
"""
