"""The node agent as pools start it: its file, the start task that an operator is offered, and its three forms.

Imports `pools`.
"""
