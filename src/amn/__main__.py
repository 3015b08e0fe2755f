"""`python -m amn`: the same as the command `amn`."""

import sys

from amn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
