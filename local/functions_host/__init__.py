"""A small functions host: Microsoft's own worker code runs the app, this package replaces the platform around it.

It exists because the platform's host can't be installed from package registries. It serves HTTP, timer, queue and blob
triggers and queue outputs. At start it rejects any other declaration, and everything that Azure would reject.
"""
