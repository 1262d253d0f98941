"""The parts of the workflow in the order in which they build upon one another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.workflow.foreseen_faults import model_faults
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
    if faults := list(dict.fromkeys([*faults, *model_faults(run, workload.model_uses())])):
        raise AuditError(f"config: {'; '.join(faults)}")
    return run, studies, views, workload
