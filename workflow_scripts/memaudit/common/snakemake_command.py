"""The command that runs the project's workflow: in a checkout and where memaudit is installed, in any folder."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from memaudit.common.project_paths import PROJECT, config_path

PROFILES = PROJECT / "profiles"
NO_START = "MEMAUDIT_NO_START"  # environment variable: the file that a plan makes if the run would not start
TYPED = "MEMAUDIT_TYPED"  # environment variable: the command that the user typed, where it is not Snakemake's


def mark_no_start() -> None:
    """Tell the command that has asked for a plan that the run would not start."""
    if file := os.environ.get(NO_START):
        Path(file).touch()


def snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Snakemake on the project's workflow with these arguments; results go below the folder where it is started.

    The options of the project's default profile hold, also outside the project, unless `--workflow-profile` is given.
    Values of `--configfile` and `--profile` may be files and profiles of the project, like config/smoke.yaml and slurm.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    if not any(one.partition("=")[0] == "--workflow-profile" for one in arguments):
        command += ["--workflow-profile", "none", *_defaults()]
    for option, value, joined in _options(arguments):
        if value is None:
            command.append(option)
        else:
            found = FOUND.get(option, str)(value)
            command.append(f"{option}={found}" if joined else found)
    return command


def _defaults() -> list[str]:
    """The options of the default profile: read as a profile, Snakemake would print a line about it each time."""
    import yaml

    given = yaml.safe_load((PROFILES / "default" / "config.v9+.yaml").read_text(encoding="utf-8"))
    options = []
    for name, value in sorted(given.items(), key=lambda one: one[1] is True):  # flags last: a target may follow
        options += [f"--{name}", *([] if value is True else value if isinstance(value, list) else [str(value)])]
    return options


def config_files(arguments: Sequence[str]) -> list[str]:
    """The files that Snakemake reads as config files with these arguments: all values up to the next option."""
    return [_config_file(value) for option, value, _ in _options(arguments) if value and option in CONFIG_OPTIONS]


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str | None, bool]]:
    """Each argument as the option that it belongs to, its value or None, and whether `=` joins the two."""
    option = ""
    for argument in arguments:
        if argument.startswith("-"):
            option, given, value = argument.partition("=")
            joined = bool(given) and option in FOUND
            yield (option, value, True) if joined else (argument, None, False)
            option = "" if given else option
        else:
            yield option, argument, False


def _profile(name: str) -> str:
    """A profile of the project by its absolute path, one of the working folder or of the user's by its name."""
    if Path(name).is_dir() or Path("~/.config/snakemake", name).expanduser().is_dir():
        return name
    return next((str(one) for one in (PROJECT / name, PROFILES / name) if one.is_dir()), name)


def _config_file(name: str) -> str:
    return str(config_path(name))


CONFIG_OPTIONS = ("--configfile", "--configfiles")
FOUND = {"--profile": _profile} | dict.fromkeys(CONFIG_OPTIONS, _config_file)
