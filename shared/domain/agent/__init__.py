"""The node agent as pools start it: its file, the offered start task and its forms, and why nodes don't report.

Imports `pools`.
"""
