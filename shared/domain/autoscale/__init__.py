"""Autoscale formulas: Batch's language evaluated on samples, bounded in steps and sizes. It reads no samples itself.

Source: "Create a formula to automatically scale compute nodes in a Batch pool".
"""
