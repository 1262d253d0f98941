"""A finished audit's results and settings, read from its folder without running anything."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pydantic import ValidationError

from memaudit.auditing.reading import source_file
from memaudit.auditing.running.stage_results import FACTS
from memaudit.auditing.summaries.summary import Summary
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table

# Keys of a stage's config that are not settings: places of files, and what the machine's speed decided.
NO_SETTINGS = ("models.", "run", "audit.models", "audit.facts", "audit.plan.seconds", "audit.plan.minutes")
PLACES = (".path", ".public")


@dataclass(frozen=True)
class FinishedAudit:
    """The results of an audit. risk: risk.parquet; config: of its last stage, empty where the file is gone."""

    folder: Path
    summary: Summary
    risk: pd.DataFrame
    config: Mapping[str, Any]
    facts: Mapping[str, Any]  # of the intake, empty where the file is gone

    @cached_property
    def threats(self) -> list[str]:
        """What the adversaries could use; empty where the config is gone."""
        return sorted(self.config.get("audit", {}).get("threats", []))

    @property
    def seed(self) -> int | None:
        """Seed of all random numbers, None where the config is gone."""
        return self.config.get("seed")

    @cached_property
    def steps(self) -> dict[str, list[Mapping[str, Any]]]:
        """The provenance records of the last stage, by their rule; empty where they are gone."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for path in sorted((self.folder / "results" / self.summary.stage / "provenance").rglob("*.json")):
            record = read_json(path)
            found.setdefault(record.get("rule", "not known"), []).append(record)
        return found

    def codes(self) -> dict[str, set[str]]:
        """Digests of the code that made the jobs of each rule of the last stage, of rules whose jobs all record it."""
        codes = {rule: {record.get("code") for record in records} for rule, records in self.steps.items()}
        return {rule: found for rule, found in codes.items() if None not in found}

    @property
    def version(self) -> str:
        """The commit of the code that rated the records, empty where it is not known."""
        state = self.steps.get("audit_rate_records", [{}])[0].get("git")
        return f"{state['commit'][:8]}{' with uncommitted changes' if state['dirty'] else ''}" if state else ""

    def settings(self) -> dict[str, Any]:
        """Settings by dotted key."""
        flat = _flat(self.config, "")
        return {key: one for key, one in flat.items() if not key.startswith(NO_SETTINGS) and not key.endswith(PLACES)}


def read(folder: str | Path) -> FinishedAudit:
    """The audit in a folder. Raises AuditError, in one line, for a folder without one."""
    path = source_file.expanded(folder)
    name = repr(str(folder))
    if not path.is_dir():
        raise AuditError(f"{name}: there is no such folder; give that of an audit, such as audit-customers")
    if not (path / "summary.json").is_file() or not (path / "risk.parquet").is_file():
        raise AuditError(f"{name}: holds no finished audit (no summary.json and risk.parquet)")
    try:
        content = read_json(path / "summary.json")
        if isinstance(content, Mapping) and content.get("kind") == "predictions":
            raise AuditError(
                f"{name}: holds an audit of files of predictions, which has no contexts to compare and rates no "
                "record; diff and record read audits of a table"
            )
        summary = Summary.model_validate(content)
    except (ValidationError, ValueError):
        raise AuditError(f"{name}: its summary.json was written by another version; audit the table again") from None
    config = path / f"{summary.stage}.yaml"
    try:
        read_config = yaml.safe_load(config.read_text(encoding="utf-8")) if config.is_file() else {}
    except (yaml.YAMLError, UnicodeError):
        raise AuditError(f"{name}: its {config.name} is damaged; audit the table again") from None
    facts = read_json(path / FACTS) if (path / FACTS).is_file() else {}
    risk = read_table(path / "risk.parquet").rename(columns=present_name)
    return FinishedAudit(path, summary, risk, read_config, facts)


def present_name(column: str) -> str:
    """The name of a column of risk.parquet, which earlier versions called `exposure` or `belief_...`."""
    return "vulnerability" if column == "exposure" else re.sub("^belief_", "posterior_", column)


def _flat(one: Any, key: str) -> dict[str, Any]:
    if not isinstance(one, Mapping):
        return {key: one}
    flat: dict[str, Any] = {}
    for part, inner in one.items():
        flat |= _flat(inner, f"{key}.{part}".strip("."))
    return flat
