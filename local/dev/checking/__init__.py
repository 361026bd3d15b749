"""`check`: formats, types, contracts, lock files, licences, references, figures and commit subjects."""
