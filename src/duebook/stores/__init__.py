"""Where notifications live: the same verbs in two dialects, and the connections that run them."""
