"""A small functions host: Microsoft's own worker code runs the app, this package plays the platform around it.

It exists because the platform's host can't be installed from package registries. It serves HTTP, timer and queue
triggers and queue outputs; whatever else an app declares, and whatever Azure would refuse, it refuses at start.
"""
