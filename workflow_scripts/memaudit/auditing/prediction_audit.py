"""`./memaudit audit --predictions MEMBERS NONMEMBERS`: intake, a stage of Snakemake, and the results on the screen."""

import datetime
import shutil
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from memaudit.auditing import audit_options, failure_limits, runner
from memaudit.auditing.findings.protection import require_review_date
from memaudit.auditing.page import audit_page, pdf_page
from memaudit.auditing.predictions import prediction_sentences
from memaudit.auditing.predictions.prediction_files import COPY, FACTS, take_in
from memaudit.auditing.predictions.prediction_sentences import CONTROLS
from memaudit.auditing.predictions.prediction_summary import INVALID, PredictionSummary
from memaudit.auditing.reading import reading_options, row_nouns, source_file
from memaudit.auditing.reading.request import FPR, PredictionRequest
from memaudit.auditing.running import stage_results
from memaudit.auditing.running.setting_bounds import SEED
from memaudit.auditing.running.terminal_progress import Display
from memaudit.auditing.running.working_folder import in_one_line, private
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, replacing
from memaudit.common.screen_lines import show

STAGE = "predictions"
SETTINGS = {"fpr": FPR, "permutations": 99, "replicates": 200, "offline_a": 0.3}
# Options of an audit that say nothing about predictions that are there already.
IDLE = (
    "lone_rows",
    "merge_rare",
    "task",
    "by",
    "infer",
    "threats",
    "model",
    "epsilon",
    "public",
    "finetune",
    "minutes",
    "quick",
    "whole",
    "shown",
    "context_rows",
    "show_values",
)
SECONDS = 60.0  # expected of the whole audit


def check(options: Namespace) -> None:
    """Raise AuditError for options that do not fit together."""
    if options.table is not None:
        raise AuditError("--predictions takes the place of TABLE: give one of them")
    defaults = audit_options.parser().parse_args(["audit", "TABLE", "--target", "COLUMN"])
    for name in IDLE:
        if getattr(options, name) != getattr(defaults, name):
            option = f"--{name.replace('_', '-')}"
            raise AuditError(f"{option}: has no meaning with --predictions, where no model is queried; leave it out")
    if options.pdf:
        pdf_page.require()


def folder_of(options: Namespace) -> Path:
    """The working folder."""
    default = f"audit-predictions-{source_file.stem(options.predictions[0])}"
    return source_file.expanded(options.into or default).absolute()


def run(options: Namespace, snakemake: Sequence[str]) -> int:
    """Run the audit, print its results, and return the exit code (`failure_limits.finish`).

    options: of the command `audit`; snakemake: arguments for Snakemake.
    Raises AuditError in one line for every fault that a user can correct.
    """
    check(options)
    folder = folder_of(options)
    row_nouns.require(options.records, options.owner, options.review_by)
    require_review_date(options.review_by, datetime.date.today())
    SEED.check("--seed", options.seed)
    stage_results.refuse_idle(snakemake)
    request = PredictionRequest(
        *options.predictions,
        target=options.target,
        references=options.reference,
        **{key: getattr(options, key) for key in ("id", "group", "seed", "rows", *reading_options.NAMES)},
    )
    fresh = not folder.exists()
    with in_one_line(folder), private(folder) as lock:
        try:
            facts = take_in(request, folder)
        except (AuditError, OSError):
            if fresh:
                shutil.rmtree(folder)
            raise
        show(read_lines(facts))
        section = SETTINGS | {"base_rates": sorted(set(options.base_rates))}
        section |= {name: getattr(options, name) for name in ("owner", "review_by", "records")}
        section |= {"table": f"table/{COPY}", "facts": f"table/{FACTS}"}
        config = {"run": STAGE, "seed": options.seed, "predictions": section}
        settings = runner.Settings(folder, cores=options.cores, snakemake=snakemake, pdf=options.pdf)
        with Display({STAGE: SECONDS}) as display:
            summary = _made(config, settings, lock, display)
    show(result_lines(summary))
    limits = failure_limits.judged(options.fail_above, summary)
    return failure_limits.finish(folder, summary.verdict != INVALID, limits)


def _made(config: Mapping[str, Any], settings: runner.Settings, lock: int, display: Display) -> PredictionSummary:
    """Run the rules, copy their results to where the user finds them, and return the summary."""
    folder = settings.folder
    path = folder / f"{STAGE}.yaml"
    with replacing(path) as temporary:
        temporary.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    failed, cause = runner.snakemake(path, "predictions", settings, lock, display)
    if failed:
        raise runner.StageError(STAGE, cause, folder / runner.LOG)
    sidecar = folder / f"results/{STAGE}/provenance/audit_show_predictions.json"
    record = read_json(sidecar) if sidecar.exists() else {"inputs": {}, "params": {}}
    facts = config["predictions"]["facts"]
    same = record["params"] == {"predictions": config["predictions"], "seed": config["seed"]}
    if not same or record["inputs"].get(facts) != sha256(folder / facts):
        raise AuditError("Snakemake has made no page of this request; leave out its options and give the command again")
    runner.copy_results(folder / f"results/{STAGE}/audit/predictions", settings)
    return PredictionSummary.model_validate(read_json(folder / "summary.json"))


def read_lines(facts: Mapping[str, Any]) -> list[str]:
    """How the files were read."""
    rows = [f"{count} rows of {what}" for count, what in zip(facts["rows"], ("members", "non-members"), strict=True)]
    lines = [f"{' and '.join(rows)}, {facts['classes']} columns of probabilities, {len(facts['types'])} of features"]
    if facts["duplicates"]:
        lines.append(f"{facts['duplicates']} rows are equal to an earlier one of their file and count once")
    if facts["sampled"]:
        lines.append(f"{facts['sampled']} rows are left out by --rows, at random")
    if facts["references"]:
        lines.append(f"{facts['references']} reference models")
    lines += [f"the probabilities are read with: {how}" for how in facts["probability_readings"]]
    how = {name: f" ({remark})" for name, remark in facts["readings"].items()}
    lines += [f"  {name!r}  {kind}{how.get(name, '')}" for name, kind in facts["types"].items()]
    return lines + [f"  {name!r}  left out: {why}{how.get(name, '')}" for name, why in facts["left_out"].items()]


def result_lines(summary: PredictionSummary) -> list[str]:
    """The main results."""
    auc = f"AUC {audit_page.number(summary.auc)}, chance 0.50, p {summary.auc.p_value:.2f}"
    lines = [f"result: {auc}: {summary.verdict}", *prediction_sentences.sentences(summary)]
    lines += [f"{CONTROLS[one.name]}: AUC {audit_page.number(one.auc)}" for one in summary.controls]
    return [*lines, prediction_sentences.advice(summary)]
