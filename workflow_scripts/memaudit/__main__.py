"""`python -m memaudit`, what the launcher `./memaudit` calls."""

import sys

from memaudit.commands.launcher import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
