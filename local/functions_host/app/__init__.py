"""The function app: its settings, functions and storage, and the worker that runs it."""
