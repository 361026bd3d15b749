"""The server: from HTTP to an operation and back, certificates, and the controls under `/_emulator/`.

Imports everything but `exports`.
"""
