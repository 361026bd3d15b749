"""An emulator of the Azure Batch service. It imports nothing of the app, so that it can judge the app's counts."""
