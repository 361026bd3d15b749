"""An emulator of the Azure Batch REST service: the local stack's Batch, and the judge of the app.

It imports nothing of the app, so that no mistake can be in both. What it doesn't do it refuses with 501 and a name.
"""
