"""The node's kernel files and clocks, behind one door each, so that tests can pass a tree of their own."""
