"""The list of retail prices, and the rows that keep prices. Imports `tables`."""
