"""The command that runs the project's workflow: in a checkout and where memaudit is installed, in any folder."""

import sys
from collections.abc import Sequence

from memaudit.common.project_paths import PROJECT

PROFILES = PROJECT / "profiles"


def snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Snakemake on the project's workflow with these arguments; results go below the folder where it is started.

    The project's default profile holds, also outside the project. `--profile NAME` may name a profile of the project.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    return [*command, "--workflow-profile", str(PROFILES / "default"), *_resolved(arguments)]


def _resolved(arguments: Sequence[str]) -> list[str]:
    """The arguments; the name of a profile of the project becomes its absolute path."""
    resolved = list(arguments)
    for place in range(len(resolved) - 1):
        folders = [PROJECT / resolved[place + 1], PROFILES / resolved[place + 1]]
        if resolved[place] == "--profile" and (found := next((one for one in folders if one.is_dir()), None)):
            resolved[place + 1] = str(found)
    return resolved
