"""The options of `./memaudit audit`. Standard library only: `--help` needs no environment."""

import argparse
from collections.abc import Sequence

from memaudit.auditing import failure_limits
from memaudit.auditing.reading import reading_options
from memaudit.auditing.reading.request import FPR, MOST_ROWS, SHIPPED
from memaudit.auditing.running.setting_bounds import COUNT, POSITIVE, SHARE, TASKS, THREATS
from memaudit.common.command_name import program
from memaudit.common.line_parser import LineParser

TWO_FILES = (
    "the file of the members, on whose records the model was trained, and that of the non-members; one file with a "
    "column that tells them apart is parted as docs/audit.md shows (A model that cannot be refitted)"
)


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and arguments for Snakemake; ends the process after `--help` and with one line for wrong ones."""
    own, rest = parted(list(arguments))
    whole = parser(with_table=not names_predictions(own))
    options = whole.parse_args(own)
    fprs = (FPR,) if options.predictions else failure_limits.RATES
    if wrong := failure_limits.unmeasured(options.fail_above, options.base_rates, fprs):
        whole.error(wrong)
    return options, rest


def parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The audit's own arguments, and those for Snakemake: all after `--`, and --profile NAME at any place."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    own, rest = arguments[:place], arguments[place + 1 :]
    if "--profile" in own[:-1]:
        at = own.index("--profile")
        own, rest = own[:at] + own[at + 2 :], [*own[at : at + 2], *rest]
    return own, rest


def names_predictions(arguments: Sequence[str]) -> bool:
    """Whether a command names files of predictions; the parser takes the option shortened, too."""
    return any(len(one) >= len("--pre") and "--predictions".startswith(one) for one in arguments)


def parser(with_table: bool = True) -> LineParser:
    """The parser; with_table: whether TABLE must be given, as without --predictions."""
    whole = LineParser(prog=program())
    commands = whole.add_subparsers(dest="command", required=True, metavar="audit")
    audit = commands.add_parser("audit", description="Audit a table; see docs/audit.md.")
    _add_table(audit, with_table)
    _add_predictions(audit)
    _add_attacks(audit)
    _add_run(audit)
    return whole


def _add_table(audit: argparse.ArgumentParser, required: bool) -> None:
    """Add the arguments that describe the table."""
    nargs = None if required else "?"
    audit.add_argument("table", metavar="TABLE", nargs=nargs, help="a CSV (may be gzipped) or Parquet file")
    audit.add_argument("--target", required=True, metavar="COLUMN", help="the column that the model predicts")
    audit.add_argument(
        "--task",
        choices=TASKS,
        help="how the target is predicted; by default numbers of more than ten different values by regression",
    )
    audit.add_argument(
        "--records", default="", metavar="NOUN", help="what rows are where they are not people, such as modules"
    )
    audit.add_argument("--group", metavar="COLUMN", help="the person or household that several rows belong to")
    audit.add_argument("--lone-rows", action="store_true", help="a row without its --group is a person of its own")
    audit.add_argument(
        "--merge-rare",
        action="store_true",
        help="make one class of those that have too few rows, or leave them out if they are too few rows together",
    )
    audit.add_argument("--by", nargs="+", default=[], metavar="COLUMN", help="compare the leakage of its categories")
    reading_options.add_arguments(audit)


def _add_attacks(audit: argparse.ArgumentParser) -> None:
    """Add the arguments that choose adversaries, models and what is measured."""
    audit.add_argument(
        "--threats",
        nargs="+",
        default=["labels", "probabilities"],
        choices=THREATS,
        help="what an adversary can use; poison: rows added to the context; white-box: the model's attention; "
        "linkability: halves of records that may belong together",
    )
    audit.add_argument(
        "--infer", nargs="+", default=[], metavar="COLUMN", help="columns whose values an adversary tries to infer"
    )
    audit.add_argument(
        "--model",
        nargs="+",
        default=[SHIPPED],
        help="a name of the catalogue, a TabPFN or TabICL file, FAMILY:PATH of another package (docs/models.md), or an "
        "estimator's import path; the first is audited",
    )
    audit.add_argument(
        "--epsilon",
        nargs="+",
        type=POSITIVE.parsed,
        default=[],
        help="measure accuracy and leakage of contexts with differential privacy at these epsilons",
    )
    audit.add_argument("--public", metavar="FILE", help="published bounds and categories; required with --epsilon")
    audit.add_argument(
        "--finetune", action="store_true", help="fine-tune the model on records and probe it for memorization"
    )
    audit.add_argument("--base-rates", nargs="+", type=SHARE.parsed, default=[0.01, 0.1, 0.5], metavar="SHARE")


def _add_run(audit: argparse.ArgumentParser) -> None:
    """Add the arguments that limit the run and place its results."""
    audit.add_argument("--minutes", type=POSITIVE.parsed, default=3.0, help="time budget; default 3")
    audit.add_argument(
        "--quick", action="store_true", help="compute the first numbers only, without --by, --infer and the like"
    )
    audit.add_argument(
        "--whole", action="store_true", help="compute all of it, also where the smallest does not fit --minutes"
    )
    audit.add_argument(
        "--rows",
        type=COUNT.parsed,
        default=MOST_ROWS,
        help=f"most rows that are read into the audit; default {MOST_ROWS}",
    )
    audit.add_argument(
        "--shown", type=COUNT.parsed, default=20, help="number of most vulnerable records on the page; default 20"
    )
    audit.add_argument(
        "--context-rows",
        type=COUNT.parsed,
        metavar="N",
        help="rows of the context that will be deployed; default the whole table",
    )
    audit.add_argument("--show-values", action="store_true", help="show names of classes and categories on the page")
    audit.add_argument("--pdf", action="store_true", help="write the page as report.pdf, too")
    audit.add_argument("--owner", default="", metavar="NAME", help="who reviews the audit, for the page")
    audit.add_argument("--review-by", default="", metavar="DATE", help="date of the next review (YYYY-MM-DD)")
    audit.add_argument("--into", metavar="FOLDER", help="the private working folder; default audit-TABLE")
    audit.add_argument(
        "--fail-above",
        nargs="+",
        type=failure_limits.limit,
        default=[],
        metavar="METRIC=VALUE",
        help=f"exit with {failure_limits.EXCEEDED} above a limit, such as auc=.6 tpr@.01=.05, by the interval's lower "
        "end; auc.high=.6 by its upper end",
    )
    audit.add_argument("--seed", type=int, default=0, help="seed of all random numbers; default 0")
    audit.add_argument("--cores", type=COUNT.parsed, help="CPU cores; default all")


def _add_predictions(audit: LineParser) -> None:
    """Add the arguments of an audit of files of predictions."""
    audit.remedies = {"argument --predictions: expected 2 arguments": TWO_FILES}
    audit.add_argument(
        "--predictions",
        nargs=2,
        metavar=("MEMBERS", "NONMEMBERS"),
        help="in place of TABLE: files with a model's probabilities for records in its training data and for others",
    )
    audit.add_argument(
        "--reference",
        nargs="+",
        default=[],
        metavar="FILE",
        help="with --predictions: files with the predictions of models that have seen none of these records",
    )
    audit.add_argument("--id", metavar="COLUMN", help="with --predictions: the records' ids; default the column id")
