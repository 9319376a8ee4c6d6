"""Brokers that carry ids near their time, one module each. A client library is imported when its adapter is made."""
