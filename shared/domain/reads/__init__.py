"""Long reads of task lists: their division into ranges, and their stored progress, from which any process continues.

Imports no other package of this repository.
"""
