"""memaudit: what has a model memorized, how far can that be trusted, and what does a private defence cost?"""

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.20")
sys.path.insert(0, str(Path(workflow.basedir, "workflow_scripts")))

from memaudit import housekeeping
from memaudit.config import reference
from memaudit.config.check import checked
from memaudit.digest import digest, sha256
from memaudit.errors import AuditError


configfile: Path(workflow.basedir, "config", "datasets.yaml")
configfile: Path(workflow.basedir, "config", "models.yaml")
configfile: Path(workflow.basedir, "config", "config.yaml")


try:
    config.update(checked(config))
except AuditError as error:
    raise WorkflowError(f"config: {error}")


pathvars:
    results=f"results/{config['run']}",


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    split="|".join(config["data"]["splits"]),
    shard=r"\d+",


include: "rules/common.smk"
include: "rules/costs.smk"
include: "rules/data.smk"
include: "rules/data_views.smk"
include: "rules/models.smk"
include: "rules/lira_common.smk"
include: "rules/lira.smk"
include: "rules/lira_evaluate.smk"
include: "rules/lira_views.smk"
include: "rules/views.smk"
include: "rules/report.smk"
include: "rules/provenance.smk"
include: "rules/plan.smk"
include: "rules/run.smk"


localrules:
    all,
    data,
    lira,


rule data:
    input:
        views("data"),


rule lira:
    input:
        views("lira"),


rule all:
    default_target: True
    input:
        rules.data.input,
        rules.lira.input,
        rules.report.input,
