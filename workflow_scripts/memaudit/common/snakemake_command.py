"""The command that runs the project's workflow: in a checkout and where memaudit is installed, in any folder."""

import sys
from collections.abc import Sequence
from pathlib import Path

from memaudit.common.project_paths import PROJECT, config_path

PROFILES = PROJECT / "profiles"


def snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Snakemake on the project's workflow with these arguments; results go below the folder where it is started.

    The project's default profile holds, also outside the project. Values of `--configfile` and `--profile` may be files
    and profiles of the project, like config/smoke.yaml and slurm.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    command += ["--workflow-profile", str(PROFILES / "default")]
    option = ""
    for argument in arguments:
        if argument.startswith("-"):
            option, given, value = argument.partition("=")
            command.append(f"{option}={FOUND[option](value)}" if given and option in FOUND else argument)
        else:
            command.append(FOUND.get(option, str)(argument))
    return command


def _profile(name: str) -> str:
    """A profile of the project by its absolute path, one of the working folder or of the user's by its name."""
    if Path(name).is_dir() or Path("~/.config/snakemake", name).expanduser().is_dir():
        return name
    return next((str(one) for one in (PROJECT / name, PROFILES / name) if one.is_dir()), name)


def _config_file(name: str) -> str:
    return str(config_path(name))


FOUND = {"--profile": _profile, "--configfile": _config_file, "--configfiles": _config_file}
