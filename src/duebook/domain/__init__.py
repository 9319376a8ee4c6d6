"""What duebook knows: pure values and functions. No clock, no I/O, no randomness; time is an argument."""
