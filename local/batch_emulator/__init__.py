"""An emulator of the Azure Batch REST service: the local stack's Batch, and the reference for the app's counts.

It imports nothing of the app, so that no defect is in both. It answers 501 for unsupported features and names them.
"""
