"""Files of tasks and nodes: which part is read and shown, what is text, what is in a folder. Imports `redaction`."""
