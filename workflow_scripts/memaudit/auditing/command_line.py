"""The command line of `./memaudit audit`: its arguments, and its messages on the screen."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from memaudit.auditing import audit_strength, failure_limits, prediction_audit, reading_options, runner, source_file
from memaudit.auditing.column_lines import column_lines
from memaudit.auditing.model_choice import SHIPPED
from memaudit.auditing.request import MOST_ROWS, Request
from memaudit.auditing.row_nouns import RowNouns
from memaudit.auditing.setting_bounds import COUNT, POSITIVE, SHARE, TASKS, THREATS
from memaudit.auditing.stages import FPR
from memaudit.auditing.summary import Summary
from memaudit.auditing.table_columns import rare_classes
from memaudit.common.command_name import program
from memaudit.common.errors import AuditError, printable
from memaudit.common.line_parser import LineParser
from memaudit.common.screen_lines import show

ROLES = (
    "group",
    "lone_rows",
    "merge_rare",
    "task",
    "by",
    "infer",
)  # fields of a request that are named as the options are
# Settings of a run that are named as the options are.
CHOSEN = ("threats", "minutes", "quick", "shown", "show_values", "cores", "context_rows", "owner", "review_by", "pdf")
CHOSEN += ("whole", "records", "epsilon", "public", "finetune")


def main(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code: 3 where the audit's numbers are not valid, 4 above --fail-above."""
    own, rest = _parted(list(arguments))
    parser = _parser(with_table=not prediction_audit.named_in(own))
    options = parser.parse_args(own)
    defaults = _parser().parse_args(["audit", "TABLE", "--target", "COLUMN"])
    fprs = (FPR,) if options.predictions else failure_limits.RATES
    if wrong := failure_limits.unmeasured(options.fail_above, options.base_rates, fprs):
        parser.error(wrong)
    if (code := prediction_audit.main(options, defaults, rest)) is not None:
        return code
    folder = source_file.expanded(options.into or f"audit-{source_file.stem(options.table)}").absolute()
    request = Request(
        options.table,
        options.target,
        **{key: getattr(options, key) for key in (*ROLES, *reading_options.NAMES)},
        seed=options.seed,
        rows=options.rows,
    )
    chosen = {key: getattr(options, key) for key in CHOSEN}
    settings = runner.Settings(folder, models=options.model, base_rates=options.base_rates, snakemake=rest, **chosen)
    valid, limits = True, []

    def shown(stage: str, result: Any) -> None:
        nonlocal valid, limits
        report(stage, result)
        if stage in runner.COMPUTED:
            summary = Summary.model_validate(result)
            valid, limits = not audit_strength.invalid(summary), failure_limits.judged(options.fail_above, summary)

    try:
        runner.run(request, settings, shown)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("memaudit: stopped; give the same command again to continue", file=sys.stderr)
        return 130
    return failure_limits.finish(folder, valid, limits)


def _parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The audit's own arguments, and those for Snakemake: all after `--`, and --profile NAME at any place."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    own, rest = arguments[:place], arguments[place + 1 :]
    if "--profile" in own[:-1]:
        at = own.index("--profile")
        own, rest = own[:at] + own[at + 2 :], [*own[at : at + 2], *rest]
    return own, rest


def _parser(with_table: bool = True) -> argparse.ArgumentParser:
    """The parser; with_table: whether TABLE must be given, as without --predictions."""
    parser = LineParser(prog=program())
    commands = parser.add_subparsers(dest="command", required=True, metavar="audit")
    audit = commands.add_parser("audit", description="Audit a table; see docs/audit.md.")
    _add_table(audit, with_table)
    prediction_audit.add_arguments(audit)
    _add_attacks(audit)
    _add_run(audit)
    return parser


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


def report(stage: str, result: Any) -> None:
    """Print how the table was read (stage `schema`), the main results of a stage, or a line (`late`)."""
    lines = reading_lines(result) + column_lines(result) if stage == "schema" else result_lines(stage, result)
    show(lines)


def result_lines(stage: str, result: Any) -> list[str]:
    """Lines of what a runner reports after the intake."""
    return [result] if stage == "late" else headline_lines(result)


def reading_lines(facts: dict[str, Any]) -> list[str]:
    """How the table was read, without its columns."""
    taken, with_target = facts["taken"], facts["rows"] - facts["without_target"]
    sample = f"; {taken} of them are sampled at random" if taken < with_target else ""
    lines = [f"{facts['rows']} rows, {with_target} with a target ({facts['task']}){sample}"]
    nouns = RowNouns(facts.get("records", ""))
    lines += [
        f"{name!r} looks like a {nouns.owner} ({count} values): if it is one, audit again with --group; without it its "
        f"rows are taken for different {nouns.people}"
        for name, count in facts.get("persons", {}).items()
    ]
    if facts.get("rare"):
        lines.append(f"rare classes: {rare_classes(facts['rare'], facts['show_values'])}")
    if facts.get("lone"):
        lines.append(f"{facts['lone']} rows without {facts['group']!r} are {nouns.owners} of their own")
    if facts["target"] in facts["readings"]:
        lines.append(f"the target is read with: {facts['readings'][facts['target']]}")
    if facts.get("left_by_quick"):
        lines.append(f"--quick leaves out {', '.join(facts['left_by_quick'])}: audit without --quick for them")
    return [*lines, f"model: {', '.join(map(repr, facts['models']))}"]


def headline_lines(summary: dict[str, Any]) -> list[str]:
    """Lines of the main results of a stage's summary."""
    whole = Summary.model_validate(summary)
    main = whole.headline.model_dump()
    auc, strict = main["auc"], main["tpr"][f"{summary['fpr']:g}"]["detected"]
    verdict = "a leak is detected" if auc["detected"] else "no leak is detected"
    if strict and not auc["detected"]:
        verdict += " over all of them, but at the strict threshold accusations are right more often than by chance"
    if reason := audit_strength.invalid(whole):
        verdict = f"invalid, because {reason}; do not use these numbers"
    lines = [
        f"{'first numbers' if summary['stage'] == 'quick' else 'result'}: AUC {_with_interval(auc, '{:.2f}')}, chance "
        f"{auc['null']:.2f}: {verdict}"
    ]
    who = whole.nouns().accused
    chance = "" if strict else " (not distinguishable from chance)"
    for rate, value in main["precision"].items():
        share = {key: 100 * value[key] for key in ("estimate", "low", "high", "null") if value[key] is not None}
        lines.append(
            f"of 100 {who} predicted as members, {_with_interval(share, '{:.0f}')} are in the data, if "
            f"{100 * float(rate):g} of 100 candidates are; without a leak {share['null']:g}{chance}"
        )
    lines += [line for line in [audit_strength.alike(whole)] if line]
    lines += [] if auc["detected"] else [audit_strength.smallest_auc(whole)]
    lines += [] if strict else [audit_strength.smallest_tpr(whole)]
    lines += [audit_strength.white_box(whole)] if whole.white_box() else []
    # None where nobody is accused in any context.
    known = [one for one in summary["deployments"] if one["one_context"]["low"] is not None]
    deployed = "model" if whole.fitted else "context"
    lines += [_in_one_context(one, deployed, who) for one in known if one["fpr"] == summary["fpr"]][-1:]
    if summary["stage"] == "full":
        lines += [one["text"] for one in summary["advice"]]
    return lines


def _with_interval(value: Mapping[str, float | None], form: str) -> str:
    """An estimate with its interval, where it has one."""
    low, high = value.get("low"), value.get("high")
    ends = "" if low is None or high is None else f" [{form.format(low)}, {form.format(high)}]"
    return form.format(value["estimate"]) + ends


def _in_one_context(deployment: dict[str, Any], deployed: str, who: str) -> str:
    """The line that says what one deployed context or model may differ from the mean over contexts."""
    low, high = (f"{100 * deployment['one_context'][key]:.0f}" for key in ("low", "high"))
    start = f"the one {deployed} that is deployed may differ"
    if (low, high) == ("0", "100"):
        return f"{start}: too few {who} are accused in each to say by how much"
    return (
        f"{start}: there {low} to {high} of 100 {who} predicted as members are in the data, if "
        f"{100 * deployment['base_rate']:g} of 100 candidates are, with probability {deployment['level']:.2f}"
    )
