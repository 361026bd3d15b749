"""How a long task list is divided, and how far its read has come, so that any process can go on with it.

Imports nothing of ours.
"""
