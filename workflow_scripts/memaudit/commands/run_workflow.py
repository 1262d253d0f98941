"""`memaudit run` and the subcommands for one target of the workflow: Snakemake, in the folder where they are called."""

import os
import shlex
import subprocess
import sys
from argparse import RawDescriptionHelpFormatter as AsWritten
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn

from memaudit.common.command_name import program
from memaudit.common.errors import AuditError, printable
from memaudit.common.line_parser import LineParser
from memaudit.common.snakemake_command import NO_START, TYPED, config_files, snakemake_command

SUFFIXES = (".yaml", ".yml", ".json")


class Target(NamedTuple):
    """rule: what Snakemake makes, None: what the arguments name; about: what that is, for `--help`."""

    rule: str | None
    about: str


TARGETS = {
    "run": Target(None, "run the workflow, or the targets that are named"),
    "plan": Target("plan", "say what a run would cost, and whether this machine can do it"),
    "provenance": Target(
        "provenance", "trace every result of a run, or of an audit's FOLDER, back to raw data, by hash"
    ),
    "release": Target("release", "make a private context of a table, charged to its ledger (section release)"),
    "predict-own": Target("predict_own", "rank your own training records by their risk (section own)"),
    "attack-texts": Target("ltmia_attack", "tell which texts a language model was fine-tuned on (ltmia/attack)"),
}
DETAILS = """\
ARGUMENT: any argument of Snakemake, above all --configfile FILE ..., --cores N, --dry-run and --profile NAME:
https://snakemake.readthedocs.io/en/stable/executing/cli.html
Results go to results/ in the current folder, where relative paths of the config begin, too."""

PLAN_CODES = """

Exit code 1: the run would not start, as for a fault of the config or a file that is not there. A run that is not
feasible on this machine has 0: another machine, or a cluster, may be able to do it."""


def main(arguments: Sequence[str]) -> int:
    """Run a subcommand, `run` or that of a target, with arguments for Snakemake; returns the exit code of its help.

    Returns 1, with one line, for config files that Snakemake cannot read; the folder of an audit is checked here, too.
    Otherwise Snakemake takes the place of this process, so that signals and the exit code are its own.
    """
    name, given = arguments[0], list(arguments[1:])
    target = TARGETS[name]
    codes = PLAN_CODES if name == "plan" else ""
    about = f"{target.about[0].upper()}{target.about[1:]}.\n\n{DETAILS}{codes}"
    parser = LineParser(
        prog=f"{program()} {name}", usage="%(prog)s [ARGUMENT ...]", description=about, formatter_class=AsWritten
    )
    if {"-h", "--help"} & set(given):
        parser.print_help()
        return 0
    if target.rule and given and given[0].endswith(SUFFIXES):
        parser.error(f"{given[0]}: name config files behind --configfile")
    if name == "provenance" and len(given) == 1 and not given[0].startswith("-"):
        return import_module("memaudit.commands.verify_audit").main(given[0])
    try:
        if files := config_files(given):
            import_module("memaudit.commands.config_files").check_files(files)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return 1
    # Quietly, so that no job stands above the plan; where it fails, it is run again to be read.
    if name == "plan" and (code := _plan(snakemake_command([target.rule, "--quiet", "all", *given]))) is not None:
        return code
    return _become(snakemake_command([*([target.rule] if target.rule else []), *given]), [program(), *arguments])


def _plan(command: Sequence[str]) -> int | None:
    """0 after a plan; 1 where the run would not start, for a fault of the config, too; None where Snakemake fails."""
    with TemporaryDirectory() as folder:
        no_start = Path(folder, "no_start")
        done = subprocess.run(command, env=os.environ | {NO_START: str(no_start)}, check=False)
        return 1 if no_start.exists() else 0 if done.returncode == 0 else None


def _become(command: Sequence[str], typed: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    os.execve(command[0], command, os.environ | {TYPED: shlex.join(typed)})
