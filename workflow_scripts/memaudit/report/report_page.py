"""The report of a run: one HTML page made of results, registries and sidecars.

The same inputs give the same page: it holds no time of its own, so two pages of one run differ only in what the
sidecars record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.claims.claim_predicates import Claim
from memaudit.report import inline_figures, page_tables
from memaudit.report.claim_verdicts import verdicts
from memaudit.report.headline_answers import answers
from memaudit.report.result_lineage import Lineage
from memaudit.report.workflow_graph import Drawing, draw
from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.bootstrap import LEVEL
from memaudit.templating import page_templates

TEMPLATES = Path(__file__).parent / "templates"
# Thresholds that no config key changes: name, value, meaning.
FIXED = [
    [
        "interval",
        f"{LEVEL:g}",
        "coverage of a confidence interval; where a method names random halves or permutations, the share of these",
    ],
    ["detected", f"{SIGNIFICANT:g}", "largest p of the randomisation test; the interval must also lie above the null"],
]
Entries = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Run:
    """A finished run: folder, results, and titles and captions of what it shows (memaudit/workflow/report_params.py).

    command: the Snakemake command that makes a file of this run when the path of the file follows;
    results: the tables as data frames, by name; lineage: the jobs behind the results; verified: number of files, from
    tables and figures back to raw data, that have the hashes of their sidecars.
    """

    folder: Path
    command: str
    studies: Entries
    tables: Entries
    figures: Entries
    claims: Mapping[str, Claim]
    results: Mapping[str, pd.DataFrame]
    lineage: Lineage
    verified: int


def render(run: Run) -> str:
    """The page as one HTML document that loads nothing from elsewhere."""
    filters = {"marked": page_tables.marked, "highlighted": page_tables.highlighted, "duration": duration}
    return page_templates.render("page.html", context(run), TEMPLATES, filters=filters)


def context(run: Run) -> dict[str, Any]:
    """Values of the names that the templates use."""
    studies = [_study(run, name, entry) for name, entry in run.studies.items()]
    costs = run.lineage.costs()
    drawing = draw(costs, run.lineage.edges())
    return {
        "run": run.folder.name,
        "folder": str(run.folder),
        "command": run.command,
        "answers": answers(_of_kind(run, "headlines")),
        "studies": studies,
        "fixed": FIXED,
        "verdicts": _of_kind(run, "claims").get("verdict", pd.Series(dtype=str)).value_counts().to_dict(),
        "nulls": page_tables.of_rows(
            "nulls",
            {"title": "What each result is compared with", "caption": "The null of every result, by table and metric."},
            ["table", "metric", "null", "how"],
            page_tables.nulls({name: run.results[name] for name in run.tables}),
        ),
        "verified": run.verified,
        "drawing": drawing,
        "costs": _in_order(costs, drawing),
        "packages": run.lineage.packages(),
        "circumstances": run.lineage.circumstances(),
    }


def duration(seconds: float) -> str:
    """A number of seconds as text: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _study(run: Run, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    judged = run.results.get(f"{name}_claims")
    return {
        **entry,
        "name": name,
        "facts": [
            page_tables.of_rows(facts["name"], facts, facts["columns"], facts["rows"])
            for facts in entry.get("facts", [])
        ],
        "figures": [_figure(run, figure, run.figures[figure]) for figure in run.figures if _belongs(figure, name)],
        "tables": [
            page_tables.of_results(table, run.tables[table], run.results[table])
            for table in run.tables
            if _belongs(table, name) and table not in {f"{name}_claims", f"{name}_headlines"}
        ],
        "verdicts": [] if judged is None else verdicts(judged, run.claims),
    }


def _figure(run: Run, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    stem = run.folder / "figures" / name
    return {
        **entry,
        "name": name,
        "markup": inline_figures.embed(stem, name, entry["title"], f"{name}-caption"),
        "steps": run.lineage.behind(f"{stem}.svg"),
    }


def _belongs(name: str, study: str) -> bool:
    return name.startswith(f"{study}_")


def _of_kind(run: Run, kind: str) -> pd.DataFrame:
    """Rows of one kind of table (claims, headlines) of all studies that have it."""
    found = [run.results[f"{study}_{kind}"] for study in run.studies if f"{study}_{kind}" in run.results]
    return pd.concat(found) if found else pd.DataFrame()


def _in_order(costs: Mapping[str, Any], drawing: Drawing) -> list[Any]:
    """Costs in the order of the drawing, from top to bottom."""
    return sorted(costs.values(), key=lambda cost: drawing.boxes[cost.rule][::-1])
