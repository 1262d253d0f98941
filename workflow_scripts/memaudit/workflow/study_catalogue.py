"""The parts of the workflow in the order in which they build upon one another."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.config.key_places import place
from memaudit.workflow.foreseen_faults import missing_inputs, model_faults
from memaudit.workflow.job_sizes import Workload
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.attacks_lookups import Attacks
from memaudit.workflow.studies.audit_lookups import Audit
from memaudit.workflow.studies.data_lookups import Data
from memaudit.workflow.studies.iclmem_lookups import Iclmem
from memaudit.workflow.studies.lira_lookups import Lira
from memaudit.workflow.studies.ltmia_lookups import Ltmia
from memaudit.workflow.studies.models_lookups import Models
from memaudit.workflow.studies.predict_lookups import Predict
from memaudit.workflow.studies.predictions_lookups import Predictions
from memaudit.workflow.studies.release_lookups import Release
from memaudit.workflow.studies.tabpate_lookups import Tabpate
from memaudit.workflow.study import Study
from memaudit.workflow.view_files import Views, read_views

STUDIES = (Data, Models, Lira, Attacks, Tabpate, Iclmem, Ltmia, Predict, Release, Audit, Predictions)

FETCH_TABLE = "data_fetch_table"


def prepare(
    config: Mapping[str, Any], project: str | Path, files: Sequence[str | Path] = ()
) -> tuple[RunConfig, dict[str, Study], dict[str, Views], Workload]:
    """The run, its parts by name (that of their rules file), what readers see of them, and all jobs. Raises AuditError.

    Raises it for the first fault of the config, of a file of config/views/, or of a file that the config names.
    files: those that the config was read from.
    """
    run = RunConfig(config, project, files)
    studies = {study.name: study(run) for study in STUDIES}
    views = read_views(run, studies)
    workload = Workload(run, studies, views)
    faults = [fault for study in studies.values() if study.present for fault in study.faults()]
    faults += [*model_faults(run, workload.model_uses()), *_absent_tables(workload, files), *_absent_own(run, files)]
    if faults := list(dict.fromkeys(faults)):
        raise AuditError(f"config: {'; '.join(faults)}")
    return run, studies, views, workload


def _absent_tables(workload: Workload, files: Sequence[str | Path]) -> Iterator[str]:
    """Tables of the user's that are not there and that the run has not read yet; afterwards they may have moved."""
    absent = {name: line for (rule, name), line in missing_inputs(workload.run).items() if rule == FETCH_TABLE}
    used = workload.sizes().get(FETCH_TABLE, {}) if absent else ()  # most readings of the workflow need no sizes
    for name, line in absent.items():
        if name in used and not _was_read(workload.run, name):
            yield line + place(["datasets", name, "path"], files)


def _absent_own(run: RunConfig, files: Sequence[str | Path]) -> Iterator[str]:
    """Files of own records that are not there, where the ranking is of others: to Snakemake it would be up to date."""
    own = run.config["own"]
    sidecar = Path(run.folder, "provenance/predict_rank_own", f"{own['name']}.json") if own else None
    if sidecar is None or not sidecar.exists():
        return
    for key in ("records", "states"):
        path = own[key] and run.named(own[key])
        if path and not Path(path).exists() and path not in read_json(sidecar)["inputs"]:
            why = f"there is no file {own[key]}, and the ranking {own['name']} is of another"
            yield f"own/{key}: {why}; put the file there" + place(["own", key], files)


def _was_read(run: RunConfig, name: str) -> bool:
    """Whether the run has read a local table from the file that the config names."""
    sidecar = Path(run.folder, "provenance", FETCH_TABLE, f"{name}.json")
    if sidecar.exists():
        return run.config["datasets"][name]["path"] == read_json(sidecar)["params"]["entry"]["path"]
    return Path(run.folder, "data", name, "raw.json").exists()
