"""The function app: settings, functions and storage, and the worker that runs it."""
