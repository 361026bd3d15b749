"""Offers the node agent: its file in storage, and the start task of a pool. Imports `queries`."""
