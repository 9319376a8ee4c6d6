"""`python -m duebook` is the `duebook` command."""

from .cli import main

if __name__ == "__main__":
    main()
