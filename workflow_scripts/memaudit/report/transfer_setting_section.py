"""A published run of the learned attack beside its paper: its setting beside the paper's, its lead, its trend.

All is taken from the run's JSON and config/published.yaml; the table is that of config/views/ltmia.yaml, so that a run
that was published before the table was made has it, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import yaml

from memaudit.common import tidy, transfer_setting
from memaudit.common.project_paths import PROJECT
from memaudit.plotting.result_tables import arrange, cell, texts_table
from memaudit.statistics.dataset_means import published as printed_rows

STUDY = "ltmia"
# Claims whose numbers say how far the attack is ahead, and how that depends on what it learnt from.
LEAD = ("ltmia-above-ez", "ltmia-above-best-other", "ltmia-higher-tpr-at-one-percent")
TREND = ("ltmia-diversity-generalizes", "ltmia-diversity-closes-the-gap")
WANTED = {
    "ltmia_lead": "the TPR at a low FPR as a factor of EZ-MIA's, with its interval",
    "ltmia_diversity": "AUCs by the number of training combinations",
    "ltmia_trend": "the lead over EZ-MIA by number and strength of the training combinations",
}
Published = Mapping[str, Any]


def section(run: Published) -> dict[str, Any] | None:
    """Table, sentences and unpublished tables of a run; None where it has no learned attack."""
    if STUDY not in run["studies"]:
        return None
    view = _yaml("config/views/ltmia.yaml")
    rows = tidy.frame([*_here(run), *_of_paper()])
    arranged = arrange(tidy.expand(rows), **view["tables"]["ltmia_setting"]["layout"])
    return {
        "table": texts_table(list(arranged), ([cell(value) for value in line] for line in arranged.to_numpy())),
        "cost": _cost(run),
        "lead": [*_leads(run), *_claimed(run, LEAD)],
        "trend": list(_claimed(run, TREND)),
        "unpublished": {name: what for name, what in WANTED.items() if name not in run["tables"]},
    }


def _here(run: Published) -> Iterator[dict[str, Any]]:
    """Numbers of the run: of its config, and of its base models where their table is published."""
    yield from transfer_setting.rows(transfer_setting.numbers(run["config"][STUDY]))
    if "ltmia_models" in run["tables"]:
        bases = _columns(run["tables"]["ltmia_models"]["text"]).set_index("base")
        made_here = bases.index[bases["pre-training texts"] != ""] if "pre-training texts" in bases else ()
        yield from transfer_setting.rows(
            transfer_setting.base_numbers(bases["parameters"].astype(float).to_dict(), made_here)
        )


def _of_paper() -> Iterator[dict[str, Any]]:
    entries = [one for one in _yaml("config/published.yaml")[STUDY] if one["metric"] == transfer_setting.METRIC]
    return printed_rows(STUDY, entries, tidy.frame(list(transfer_setting.rows({"": 0}))))


def _cost(run: Published) -> str:
    """CPU time of the run for each of its combinations."""
    numbers = transfer_setting.numbers(run["config"][STUDY])
    learnt, held_out = (numbers[name] for name in ("combinations to learn from", "held-out combinations"))
    seconds = run["made"]["cpu_seconds"] / (learnt + held_out)
    return f"{seconds:.0f} CPU seconds for each of {learnt + held_out} combinations, {held_out} of them held out"


def _leads(run: Published) -> Iterator[str]:
    """The main differences and ratios to other attacks, each with what its interval shows."""
    for row in run["studies"][STUDY].get("headlines", {"rows": []})["rows"]:
        if row["answers"] == "memorized" and row["value"] in ("gap", "ratio"):
            low, high, null = (float(row[name]) for name in ("low", "high", "null"))
            side = (
                "Ahead" if low > null else "Behind" if high < null else f"Not shown, since the interval holds {null:g}"
            )
            yield f"{side}: {row['sentence']}"


def _claimed(run: Published, names: tuple[str, ...]) -> Iterator[str]:
    """What the run has for some claims of the paper, every comparison of it."""
    rows = {row["id"]: row for row in run["studies"][STUDY].get("claims", {"rows": []})["rows"]}
    for name in names:
        if name in rows and rows[name]["ours"]:
            yield f"{rows[name]['claim']} Here: {rows[name]['ours']}."


def _columns(text: str) -> pd.DataFrame:
    """A published Markdown table as texts."""
    lines = [[part.strip() for part in line[1:-1].split("|")] for line in text.splitlines() if line[:1] == "|"]
    return pd.DataFrame(lines[2:], columns=lines[0])


def _yaml(path: str) -> Any:
    return yaml.safe_load((PROJECT / path).read_text(encoding="utf-8"))
