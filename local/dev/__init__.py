"""The commands behind dev.py: setup, the local stack, checks and builds.

This package runs before anything is installed, so it uses only the standard library. It never imports the app.
"""
