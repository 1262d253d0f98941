"""The command line of `./memaudit audit`: an audit of a table, and its messages on the screen."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from memaudit.auditing import audit_options, failure_limits, prediction_audit, runner
from memaudit.auditing.findings import audit_strength
from memaudit.auditing.reading import reading_options, source_file
from memaudit.auditing.reading.column_lines import column_lines
from memaudit.auditing.reading.request import Request
from memaudit.auditing.reading.row_nouns import RowNouns
from memaudit.auditing.reading.table_columns import rare_classes
from memaudit.auditing.summaries.summary import Summary
from memaudit.common.errors import AuditError, printable
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
CHOSEN = (
    "threats",
    "minutes",
    "quick",
    "shown",
    "show_values",
    "cores",
    "context_rows",
    "owner",
    "review_by",
    "pdf",
    "whole",
    "records",
    "epsilon",
    "public",
    "finetune",
)
OF_PREDICTIONS = ("reference", "id")  # options for --predictions alone


def main(arguments: Sequence[str]) -> int:
    """Run a command line and return the exit code: 3 where the audit's numbers are not valid, 4 above --fail-above."""
    options, rest = audit_options.parse(arguments)
    try:
        return prediction_audit.run(options, rest) if options.predictions else _of_table(options, rest)
    except AuditError as error:
        print(f"memaudit: {printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("memaudit: stopped; give the same command again to continue", file=sys.stderr)
        return 130


def _of_table(options: Namespace, snakemake: Sequence[str]) -> int:
    """Run the audit of a table and return the exit code; raises AuditError for faults that a user can correct."""
    if given := [name for name in OF_PREDICTIONS if getattr(options, name)]:
        raise AuditError(f"--{given[0]}: is only for --predictions; leave it out")
    folder = source_file.expanded(options.into or f"audit-{source_file.stem(options.table)}").absolute()
    request = Request(
        options.table,
        options.target,
        **{key: getattr(options, key) for key in (*ROLES, *reading_options.NAMES)},
        seed=options.seed,
        rows=options.rows,
    )
    chosen = {key: getattr(options, key) for key in CHOSEN}
    # A limit is held to the whole audit: first numbers of a slow machine would pass it by their wide intervals.
    chosen["whole"] |= bool(options.fail_above) and not options.quick
    settings = runner.Settings(
        folder, models=options.model, base_rates=options.base_rates, snakemake=snakemake, **chosen
    )
    valid, limits = True, []

    def shown(stage: str, result: Any) -> None:
        nonlocal valid, limits
        report(stage, result)
        if stage in runner.COMPUTED:
            summary = Summary.model_validate(result)
            valid, limits = not audit_strength.invalid(summary), failure_limits.judged(options.fail_above, summary)

    runner.run(request, settings, shown)
    return failure_limits.finish(folder, valid, limits)


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
