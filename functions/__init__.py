"""The app's functions: a trigger in, one service call, a result out.

HTTP triggers are in `api` and `pages`, what they share in `http`; the other triggers are here. Imports `shared`, of
which most loads when a trigger fires.
"""
