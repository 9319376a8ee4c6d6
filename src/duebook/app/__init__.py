"""The application's side: the book, and the rooms it offers."""
