"""SQLite: one file, one writer, one thread."""
