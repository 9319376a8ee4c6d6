"""The agents: each a bounded batch of work that awaits ports and nothing else, so that it can be run by hand."""
