"""Config sections of the studies that an audit runs on demand, restricted to the audited table.

`tabpate` measures contexts with differential privacy at chosen epsilons, `iclmem` probes a fine-tuned model.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from memaudit.auditing.reading.checkpoint_families import ATTENTION_CLASSES
from memaudit.auditing.reading.table_columns import MOST_CLASSES, REGRESSION
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing
from memaudit.data.duckdb_engine import connect, parquet
from memaudit.privacy.public_facts import read_public

PUBLIC = "table/table.yaml"
# Of the demo's conditions: the best one, and the paper's strongest baseline that releases a context.
PRIVATE, ATTACKED = ("class_moments", "dp_tabicl"), ("class_moments",)
TUNED, PLACEBO = "lr_1e_3", "placebo"
SPLITS, EPOCHS = 5, (10, 50)
LINKABILITY = "linkability"
WHITE_BOX = "--threats white-box"
TUNED_CLASSES = 10  # of the shipped model, without the hierarchy of classes that the audit itself uses
FEWEST_QUERIES, MOST_QUERIES, MOST_CONTEXT = 21, 50, 150
# CPU seconds of each on 1,000 records of 20 columns with the shipped model, to be taken from the time budget.
PRIVATE_SECONDS, TUNING_SECONDS = 90.0, 240.0


def public_facts(copy: Path, facts: Mapping[str, Any], given: str | Path) -> dict[str, Any]:
    """The public facts that private contexts use, under the safe names of the columns.

    copy: of the table; given: a file of published facts (docs/release.md) under the table's own names: bounds and
    categories that were read from the table would reveal records, and epsilon would not cover them. Raises AuditError
    for a column that is neither numeric nor categorical, and for a class of the table that the file does not name.
    """
    columns = {safe: column for safe, column in facts["columns"].items() if column["use"]}
    for column in columns.values():
        if column["type"] not in ("numeric", "categorical"):
            raise AuditError(
                f"--epsilon: column {column['name']!r} is read as {column['type']}, but private contexts hold numbers "
                "and categories only; leave it out with --drop, or edit schema.yaml"
            )
    named = read_public(given, {column["name"]: column["type"] for column in columns.values()})
    if unnamed := len(set(_classes(copy)) - set(named.target.values)):
        raise AuditError(f"{given}: target: {unnamed} of the table's classes are not named; spelling and case count")
    return {
        "source": named.source,
        "records": facts["taken"],
        "task": "classification",
        "target": list(named.target.values),
        "columns": {safe: list(column.values) for safe, column in zip(columns, named.columns, strict=True)},
    }


def write_public(folder: Path, public: Mapping[str, Any]) -> None:
    """Write the public facts to where the studies read them."""
    with replacing(folder / PUBLIC) as temporary:
        temporary.write_text(yaml.safe_dump(dict(public), sort_keys=False, allow_unicode=True), encoding="utf-8")


def _classes(copy: Path) -> list[str]:
    """Classes of the table."""
    with connect(copy.parent) as connection:
        view = parquet(copy)
        rows = connection.execute(f"SELECT DISTINCT target::VARCHAR FROM {view} WHERE target IS NOT NULL").fetchall()
    return [value for (value,) in rows]


def private_contexts(
    name: str, epsilons: Sequence[float], records: int, model: str, arms: Collection[str], fpr: Sequence[float]
) -> dict[str, Any]:
    """The section `tabpate`; arms: all of the config, of which PRIVATE run on the table."""
    return {
        "datasets": [name],
        "models": {"classification": model},
        "epsilons": list(epsilons),
        "repeats": 3,
        "tuned": None,  # for epsilons of the study alone
        "roles": {"max_records": records},
        "arms": {arm: {"datasets": [name] if arm in PRIVATE else []} for arm in arms},
        "ablations": {"datasets": []},
        "shadows": {
            "datasets": [name],
            "arms": list(ATTACKED),
            "epsilons": list(epsilons),
            "sets": 32,
            "shard": 16,
            "fpr": list(fpr),
            "permutations": 39,
            "poisoned": {"epsilons": list(epsilons)[-1:], "sets": 16, "targets": 2, "budgets": [1]},
        },
    }


def check_target(facts: Mapping[str, Any], threats: Collection[str], private: bool, tuned: bool) -> None:
    """Raise AuditError for a part of the audit that needs classes, or few of them, and a target that has others."""
    parts = {
        "--threats poison": ("poison" in threats, "mislabelled copies need", MOST_CLASSES),
        "--epsilon": (private, "private contexts hold", TUNED_CLASSES),
        WHITE_BOX: ("white-box" in threats, "attention is read of targets with", ATTENTION_CLASSES),
        "--finetune": (tuned, "the probe of a fine-tuned model needs", TUNED_CLASSES),
    }
    for option, (wanted, needs, most) in parts.items():
        if wanted and facts["kind"] == REGRESSION and option != WHITE_BOX:
            raise AuditError(f"{option}: {needs} classes, but the target is a number; leave {option} out")
        if wanted and facts["classes"] > most:
            raise AuditError(
                f"{option}: {needs} at most {most} classes, the target has {facts['classes']}; merge some, or leave "
                f"{option} out"
            )


def questions(audit: Mapping[str, Any]) -> int:
    """Number of columns that are inferred, and one for linkability; audit: the config's section."""
    return len(audit["infer"]) + (LINKABILITY in audit["threats"])


def check_inference(facts: Mapping[str, Any], threats: Collection[str]) -> None:
    """Raise AuditError where the adversary of --infer or linkability reads no probabilities, or has no halves."""
    option = "--infer" if facts["infer"] else "--threats linkability"
    if not facts["infer"] and LINKABILITY not in threats:
        return
    if "labels" in threats and "probabilities" not in threats:
        raise AuditError(
            f"{option}: the adversary reads probabilities; name them with --threats, or leave {option} out"
        )
    if sum(column["use"] for column in facts["columns"].values()) < 2:
        raise AuditError(f"{option}: needs two columns beside the target; leave {option} out")


def check_units(units: int) -> None:
    """Raise AuditError if there are too few privacy units to fine-tune on some and hold out others."""
    if units // 6 < FEWEST_QUERIES:
        raise AuditError(
            f"--finetune: {units} records (or privacy units) are too few; {6 * FEWEST_QUERIES} are needed, to "
            "fine-tune on some and hold out others"
        )


def finetuning(name: str, units: int, model: str, arms: Mapping[str, Any], tables: Collection[str]) -> dict[str, Any]:
    """The section `iclmem`; arms: all of the config, of which TUNED and its negative control PLACEBO run on the table.

    The other arms keep other tables, so they have no job here. Raises AuditError for too few privacy units.
    """
    check_units(units)
    queries, context = min(MOST_QUERIES, units // 6), min(MOST_CONTEXT, units // 3)
    elsewhere = {arm: {"datasets": sorted(entry.get("datasets") or tables)} for arm, entry in arms.items()}
    return {
        "datasets": [name],
        "models": {"classification": model},
        "splits": SPLITS,
        "splits_per_job": 3,
        "queries": queries,
        "context": context,
        "epochs": list(EPOCHS),
        "targets": {"queries": FEWEST_QUERIES, "context": 0},
        "arms": elsewhere | {TUNED: {"datasets": [name]}, PLACEBO: {"datasets": [name], "epochs": [EPOCHS[-1]]}},
    }
