"""The same work done by others, in the same run, on the same server."""
