"""`python -m memaudit`, what the launcher `./memaudit` calls."""

import sys

from memaudit.auditing.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
