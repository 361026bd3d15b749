"""What an hour of a node costs: meters of the retail list and the choice among them, prices over time, and own prices.

Imports `pools`.
"""
