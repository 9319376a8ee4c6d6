"""Measures duebook on the machine at hand, beside raw SQL and other schedulers: `python -m bench --help`."""
