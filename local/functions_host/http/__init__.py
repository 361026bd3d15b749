"""HTTP triggers: routes, keys and the admin API, without a socket."""
