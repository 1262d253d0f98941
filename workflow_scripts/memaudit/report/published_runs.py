"""What the pages of published runs show: headlines, claims, tables, and how the numbers were made.

A published run is a JSON file of `publish_results`. The page of the default run lists the others, each of which has a
page of its own.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from memaudit.claims.claim_predicates import Claim, load
from memaudit.claims.headlines import QUESTIONS
from memaudit.common.project_paths import PROJECT
from memaudit.plotting.result_tables import texts_table
from memaudit.report import claims_over_runs, transfer_setting_section
from memaudit.report.judged_results import JUDGE

CLAIM = ("claim", "place", "paper_value", "ours")
FORMER = "judged by former predicates"
DRAWING = "views_draw_figures"  # no number is its
Published = Mapping[str, Any]


def default_run(published: Published, others: Mapping[str, Published]) -> dict[str, Any]:
    """Context of the page of the default run; others: published runs by the file of their page."""
    runs = [_line(f"[{one['run']}]({page})", one, published["code"]) for page, one in others.items()]
    heads = ["run", "study", "date", "CPU time", "code", "claims of the papers"]
    alike = [one for one in others.values() if _judged_anew(one, published["code"])]
    return {
        **_numbers(published),
        "claims": claims_over_runs.table(published, alike),
        "own_claims": claims_over_runs.table(published, alike, own=True),
        "runs": texts_table(heads, [_line(published["run"], published, published["code"]), *runs]),
    }


def other_run(published: Published, default: Published) -> dict[str, Any]:
    """Context of the page of another run.

    A run whose code differs from that of the default run says so, and has no verdicts where the claims were judged by
    other code.
    """
    return {
        **_numbers(published, _judged_anew(published, default["code"])),
        "sized_for": [_present_claims()[one].text for one in published.get("sized_for", [])],
        "default": default["run"],
        "date": published["made"]["date"],
        "rules": len(_computing(published)),
        "changed": _changed(published, default["code"]),
        "judged_anew": _judged_anew(published, default["code"]),
        "other_settings": ", ".join(other_settings(published)),
        "beside": transfer_setting_section.section(published),
        "tables": {name: one["text"] for name, one in published["tables"].items()},
    }


def other_settings(published: Published) -> list[str]:
    """Settings of a run's studies that the config of its command has changed since, as study/setting."""
    named = re.search(r"--configfile (\S+)", published["command"])
    config = yaml.safe_load((PROJECT / named[1]).read_text(encoding="utf-8")) if named else {}
    return [
        f"{study}/{name}"
        for study in published["studies"]
        for name, asked in config.get(study, {}).items()
        if not _within(asked, published["config"][study].get(name))
    ]


def _within(asked: Any, had: Any) -> bool:
    """Whether `had` has all that is asked for; more keys of a mapping are the default config's."""
    if isinstance(asked, Mapping) and isinstance(had, Mapping):
        return all(_within(value, had.get(key)) for key, value in asked.items())
    if isinstance(asked, list) and isinstance(had, list):
        return len(asked) == len(had) and all(map(_within, asked, had))
    return asked == had


def _numbers(published: Published, verdicts: bool = True) -> dict[str, Any]:
    """What the page of every run shows."""
    return {
        "run": published["run"],
        "command": published["command"],
        "studies": [_study(name, study, verdicts) for name, study in published["studies"].items()],
        "made": _made(published["made"]),
        "code": texts_table(["rule", "code"], published["code"].items()),
    }


def _line(name: str, published: Published, code: Mapping[str, str]) -> list[str]:
    """A run in the table of all runs; code: digests of the default run's rules."""
    rows = [row for study in published["studies"].values() for row in study.get("claims", {"rows": []})["rows"]]
    changed = _changed(published, code)
    return [
        name,
        ", ".join(study for study in published["studies"] if study != "data"),
        published["made"]["date"],
        f"{published['made']['cpu_seconds'] / 60:.0f} min",
        f"{changed} of {len(_computing(published))} rules differ" if changed else "that of the default run",
        _counts(rows) if _judged_anew(published, code) else FORMER,
    ]


def _judged_anew(published: Published, code: Mapping[str, str]) -> bool:
    """Whether the claims were judged by the code of the default run."""
    return JUDGE in published["code"] and _is_present(JUDGE, published["code"][JUDGE], code)


def _changed(published: Published, code: Mapping[str, str]) -> int:
    """Number of a run's computing rules whose digest differs from that in `code`."""
    return sum(not _is_present(rule, digests, code) for rule, digests in _computing(published).items())


def _computing(published: Published) -> dict[str, str]:
    """Digests of the rules that a run's published numbers come from."""
    return {rule: digests for rule, digests in published["code"].items() if rule != DRAWING}


def _is_present(rule: str, digests: str, code: Mapping[str, str]) -> bool:
    """Whether all digests of a rule, with blanks between, are in `code`; a rule of several views has one for each."""
    return {*digests.split()} <= {*code.get(rule, "").split()}


def _study(name: str, study: Mapping[str, Any], verdicts: bool) -> dict[str, Any]:
    """Name, distinct sentences by question, and claims."""
    rows = study.get("headlines", {"rows": []})["rows"]
    answers = {
        question: list(dict.fromkeys(row["sentence"] for row in rows if row["answers"] == key))
        for key, question in QUESTIONS.items()
    }
    return {
        "name": name,
        "answers": {question: sentences for question, sentences in answers.items() if sentences},
        "claims": _claims(study["claims"]["rows"], verdicts) if "claims" in study else None,
    }


def _claims(rows: list[Mapping[str, str]], verdicts: bool) -> dict[str, str]:
    """The number of claims by verdict, and the table of all claims; without verdicts, the comparisons alone."""
    head = ["claim", "where", "its value", "here, a case that decides"]
    cells = []
    for row in rows:
        claim, *paper, ours = (row[key] for key in CLAIM)
        paper = [claim + _judged_by(row["id"]), *paper]
        outcome = f"{row['verdict']}: {row['reason']}" if verdicts else row["reason"]
        cells.append([*paper, ours.split("; ")[0], outcome])
    return {
        "counts": f"{_counts(rows)}." if verdicts else f"Comparisons without a verdict: {FORMER}.",
        "table": texts_table([*head, "verdict" if verdicts else "relation"], cells),
    }


def _judged_by(claim_id: str) -> str:
    """How a claim is judged, where its words do not say it: its note, and the share that must hold."""
    if (claim := _present_claims().get(claim_id)) is None:  # of former predicates
        return ""
    said = [claim.note] if claim.note else []
    if claim.share != Claim.model_fields["share"].default:
        said.append("all must hold" if claim.share == 1 else f"{claim.share:.0%} must hold")
    return f" *({'; '.join(said)})*" if said else ""


@cache
def _present_claims() -> dict[str, Claim]:
    return {claim.id: claim for claim in load(PROJECT / "config/claims.yaml")}


def _counts(rows: list[Mapping[str, str]]) -> str:
    """The papers' claims by verdict, and the number of the project's own statements."""
    counts = Counter(row["verdict"] for row in rows if row["place"] != claims_over_runs.OWN)
    own = sum(row["place"] == claims_over_runs.OWN for row in rows)
    text = "; ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return text + (f"; and {own} statements that are not in the paper" if own else "")


def _made(made: Mapping[str, Any]) -> str:
    forked = f", {made['forked']} of them forked, whose imports are not counted" if made.get("forked") else ""
    facts = {
        "date": made["date"],
        "commit": (", ".join(made["commits"]) or "unknown") + (" and uncommitted changes" if made["dirty"] else ""),
        "Python": ", ".join(made["python"]),
        "packages": ", ".join(f"{name} {version}" for name, version in made["packages"].items()),
        "CPU time": f"{made['cpu_seconds'] / 60:.0f} minutes in {made['jobs']} jobs{forked}",
        "largest job": f"{made['peak_memory_mib']:,} MiB",
    }
    return texts_table(["", ""], facts.items())
