"""The commands behind dev.py: set-up, the local stack, checks and builds.

Everything here runs before anything is installed, so it keeps to the standard library. It never imports the app.
"""
