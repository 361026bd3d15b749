"""Which jobs there are, and their rows with their history. Imports stores."""
