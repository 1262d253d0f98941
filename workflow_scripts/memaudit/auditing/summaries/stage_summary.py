"""The summary of a stage of an audit, put together from its tidy results; no number is computed here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from memaudit.auditing.summaries import summarize_controls, summarize_groups, summarize_inference, summarize_results
from memaudit.auditing.summaries.summary import Summary, Table

Tables = Mapping[str, Sequence[pd.DataFrame]]
# Inputs of the script, by name; those after `checks` exist in the second stage only.
RESULTS = ("risk", "threats", "dedup", "checks", "groups", "mitigations", "private", "tuned", "inference")


def stage_summary(
    tables: Tables,
    facts: Mapping[str, Any],
    audit: Mapping[str, Any],
    *,
    sets: int,
    score: str,
    names: Mapping[str, Mapping[str, str]] | None,
) -> Summary:
    """The summary without advice, verdicts on mitigations, and data protection.

    tables: of each name in RESULTS, none where the stage has none; facts: of the intake; audit: section of the config;
    sets: number of shadow contexts; score: by which contexts of different sizes are compared; names: of groups, if
    values are shown.
    """
    (risk,), (threats,) = tables["risk"], tables["threats"]
    deployed = summarize_results.deployed(threats, score)
    return Summary(
        stage="full" if audit["complete"] else "quick",
        table=_table(facts, counts(*tables["dedup"]), counts(*tables["checks"])),
        whole_minutes=audit["plan"].get("whole"),
        shadow_sets=sets,
        context=deployed.measured[-1].number,
        fpr=audit["fpr"],
        models=audit["models"],
        strength=summarize_controls.strength(threats, audit["fpr"], estimated=audit["smallest"]),
        deployed=deployed,
        showing=int(risk["shows"].sum()),
        rated=len(risk),
        rows_are=audit["records"],
        exposed=summarize_results.exposed(risk, audit["shown"]),
        advice=[],
        **_of_threats(threats),
        **_of_second_stage(tables, facts, audit["fpr"], names),
    )


def counts(table: pd.DataFrame) -> dict[str, float]:
    """The numbers of a tidy table by their metrics."""
    return dict(zip(table["metric"], table["estimate"], strict=True))


def _table(facts: Mapping[str, Any], deduplication: Mapping[str, float], split: Mapping[str, float]) -> Table:
    """Facts of the table, with what is left of it without duplicates and in the split."""
    disputed = int(facts["taken"] - deduplication["duplicates"] - deduplication["records"])
    return Table(
        **{name: facts[name] for name in ("rows", "without_target", "taken", "task", "kind", "sha256")},
        duplicates=int(deduplication["duplicates"]),
        disputed=disputed,
        alike=int(deduplication["conflicting_records"]) - disputed,
        records=int(split["members"] + split["nonmembers"]),
        columns=sum(column["use"] for column in facts["columns"].values()),
    )


def _of_threats(threats: pd.DataFrame) -> dict[str, Any]:
    """Parts that are read from the results of the attacks alone."""
    return {
        "adversaries": summarize_results.adversaries(threats),
        "deployments": summarize_results.deployments(threats),
        "uneven": summarize_results.uneven(threats),
        "curves": summarize_results.curves(threats),
        "controls": summarize_controls.controls(threats),
        "growth": summarize_results.growth(threats),
        "utilities": summarize_results.utilities(threats),
        "calibration": summarize_results.calibration(threats),
        "stability": summarize_results.stability(threats),
    }


def _of_second_stage(
    tables: Tables, facts: Mapping[str, Any], fpr: float, names: Mapping[str, Mapping[str, str]] | None
) -> dict[str, Any]:
    """Parts of results that the second stage has; [] or None where there are none."""
    called = {safe: column["name"] for safe, column in facts["columns"].items()} | {"target": facts["target"]}

    def of(name: str, summarise: Callable[..., Any], *settings: Any) -> Any:
        return summarise(*tables[name], *settings) if tables[name] else []

    return {
        "groups": of("groups", summarize_groups.groups, called, names),
        "small_groups": of("groups", summarize_groups.small_groups, called, names),
        "subpopulation": of("groups", summarize_groups.subpopulation, called, names) or None,
        "mitigations": of("mitigations", summarize_results.mitigations, fpr),
        "private": of("private", summarize_results.private_contexts),
        "tuned": of("tuned", summarize_results.tuned),
        "inference": of("inference", summarize_inference.inference, called) or None,
    }
