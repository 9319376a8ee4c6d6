"""The verbs, a room each: every verb once, as work that any connection can carry out."""
