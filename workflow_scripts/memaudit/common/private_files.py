"""Files that their owner alone can read."""

import os
from pathlib import Path


def keep_private(path: str | Path) -> None:
    """Make the folder of `path`, and every file that this process writes from now on, accessible to the owner only."""
    os.umask(0o077)
    folder = Path(path).parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
