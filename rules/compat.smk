"""For rules files that still hold look-ups, sizes and views of their study: the names that they use. No rule here.

Goes with the last of them; `compat_views.smk` hands on what they have registered.
"""

import functools
import json
import os
from types import SimpleNamespace

from memaudit.workflow.job_costs import size
from memaudit.models import flops
from memaudit.workflow.run_config import read_facts as facts
from memaudit.workflow.run_config import shards

OLD_STUDIES, TABLES, FIGURES, CLAIMS, HEADLINES, USES, COSTS, SHADOWS = ({} for _ in range(8))
PUBLISHED = RUN._published
in_project, table_size, side_sizes, architecture = RUN.in_project, RUN.table_size, RUN.side_sizes, RUN.architecture
data_entry, data_policy, data_size = (
    RUN.dataset_keys,
    DATA.policy,
    lambda dataset, split=None: DATA.table_cells(dataset),
)


def uses(model, shapes):
    """Register what a study asks of a model."""
    USES.setdefault(model, []).append(shapes)


def costs(rule, jobs, size):
    """Register jobs of a rule; a job that two studies need is registered once."""
    COSTS.setdefault(rule, {}).update(dict.fromkeys(jobs, size))


def no_size(*_):
    return size(0)


def data_costs(datasets, splits):
    """Jobs of `data.smk` that a study needs."""
    sides = [f"{dataset}/{split}" for dataset in datasets for split in splits]
    costs("data_make_key", [""], no_size)
    costs("data_fetch_table", datasets, data_size)
    costs("data_deduplicate_table", datasets, data_size)
    costs("data_split_records", sides, data_size)
    costs("data_validate_split", sides, data_size)


def forget(study):
    """Take out what a study has registered."""
    for registry in (OLD_STUDIES, TABLES, FIGURES, CLAIMS, HEADLINES):
        for name in [name for name in registry if name.startswith(study)]:
            del registry[name]


def models_facts(models):
    """The models that a study asks, as a table for the report."""
    return {
        "title": "Models asked",
        "caption": "Raw: one view of the table and nothing drawn, each query answered as if it were alone. As deployed: "
        "the package's own estimator with its defaults; an ensemble, shuffles and features of a whole row may then hide "
        "or show a record.",
        "columns": ["model", "family", "task", "mode", "version", "source", "licence"],
        "rows": RUN.model_rows(models),
    }
