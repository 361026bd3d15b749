"""HTTP triggers: routes, keys and the admin surface, without a socket."""
