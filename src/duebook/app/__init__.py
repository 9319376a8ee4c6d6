"""The application's side: the verbs, and the book that offers them."""
