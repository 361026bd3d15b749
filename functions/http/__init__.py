"""HTTP for all functions that serve requests: callers, parameters, JSON and CSV, errors, caching, pages of lists.

`handling` offers what declares and serves a route: `Routes`, `Call`, `Query`, `Page` and `Reply`. Imports no other
package of `functions`.
"""
