"""One module or folder per way to reach people. Nothing is imported here: a worker loads what it uses."""
