"""`prove upgrade`: this version continues with tables of 0.1.0. Hosts of both versions, recorded and kept answers."""
