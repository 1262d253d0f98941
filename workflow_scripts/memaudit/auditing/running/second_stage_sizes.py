"""Sizes of an audit's second stage, from what the jobs of the first one took on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.auditing.running import optional_studies, stages
from memaudit.common.io import read_json

PAGE_ALONE = {"plan": 0, "owner": "", "review_by": "", "records": ""}  # without effect on the time that an audit takes
QUERY = "results/quick/provenance/attacks_query_contexts/table/main"
RATING = "results/quick/provenance/audit_rate_records/table.json"


def second_stage_sizes(left: float, settings: Any, config: dict[str, Any]) -> dict[str, Any]:
    """Sizes of the second stage; an interrupted run of the same request keeps its sizes, so that it continues.

    left: seconds of the budget; settings: `runner.Settings`; config: of the stage, with any sizes.
    """
    folder = settings.folder
    known = folder / "full.yaml"
    budget = {"minutes": settings.minutes}
    if known.exists():
        before = yaml.safe_load(known.read_text(encoding="utf-8"))
        sizes = before["audit"]["plan"]
        same = [before["datasets"][stages.NAME] | {"max_records": 0}, before["audit"] | PAGE_ALONE, before["models"]]
        other = [config["datasets"][stages.NAME] | {"max_records": 0}, config["audit"] | PAGE_ALONE, config["models"]]
        if same == other and sizes.get("minutes") == settings.minutes:
            return sizes
    units = read_json(folder / "results/quick/data" / stages.NAME / "schema.json")["units"]
    return budget | stages.full_sizes(units, left, _cost(units, settings, optional_studies.questions(config["audit"])))


def whole_minutes_before(folder: Path, config: Mapping[str, Any]) -> int | None:
    """Minutes that the whole audit needs, by an audit that ended in `folder` with this config; None without one.

    config: of a first stage that is the last. Such a stage has the smallest leak, so that records rated with it need
    not be rated again.
    """
    known = folder / "quick.yaml"
    if not known.exists():
        return None
    before = yaml.safe_load(known.read_text(encoding="utf-8"))
    whole = before["audit"]["plan"].pop("whole", None)
    return whole if before == yaml.safe_load(yaml.safe_dump(config)) else None


def _cost(units: int, settings: Any, questions: int) -> stages.Cost:
    """What the second stage costs, from the seconds that the first one's jobs took.

    units: of the table; questions: columns that are inferred, and one for linkability.
    """
    sidecars = [read_json(path) for path in sorted((settings.folder / QUERY).glob("*.json"))]
    seconds = sum(max(one["wall_seconds"] - stages.START_SECONDS, 1.0) for one in sidecars)
    return stages.Cost(
        quick_records=min(units, stages.QUICK_RECORDS),
        seconds=seconds / stages.QUICK_SETS,
        rating=read_json(settings.folder / RATING)["cpu_seconds"],
        cores=settings.cores or os.cpu_count() or 1,
        models=len(settings.models),
        poison="poison" in settings.threats,
        white_box="white-box" in settings.threats,
        questions=questions,
        elsewhere=_seconds_elsewhere(settings),
    )


def _seconds_elsewhere(settings: Any) -> float:
    """CPU seconds of the optional studies."""
    private = optional_studies.PRIVATE_SECONDS * len(settings.epsilon)
    return private + optional_studies.TUNING_SECONDS * settings.finetune
