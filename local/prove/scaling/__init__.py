"""Proves that the app's replay of pools' own formulas gives the targets that the emulator recorded."""
