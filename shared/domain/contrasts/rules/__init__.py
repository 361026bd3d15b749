"""Rules on nodes whose tasks fail, a rule a file."""
