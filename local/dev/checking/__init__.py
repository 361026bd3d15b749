"""`check`: formats, types, contracts, lock files, licences, references, glossary, figures and commit subjects."""
