"""memaudit: what has a model memorized, how far can that be trusted, and what does a private defence cost?"""

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.20")
# The library of this checkout, whichever memaudit is installed. As a `module` of another workflow, workflow.basedir is
# the other one's folder. Jobs take PYTHONPATH, those in conda environments the path of Snakemake itself.
sys.path.insert(0, str(Path(str(workflow.current_basedir.get_path_or_uri(secret_free=True)), "workflow_scripts")))

from memaudit.checksums import sha256
from memaudit.config import key_reference
from memaudit.config.check_config import checked
from memaudit.errors import AuditError
from memaudit.workflow import housekeeping
from memaudit.workflow.digest import digest, rule_of

housekeeping.pass_on_library()


configfile: Path(workflow.basedir, "config", "datasets.yaml")
configfile: Path(workflow.basedir, "config", "models.yaml")
configfile: Path(workflow.basedir, "config", "language_models.yaml")
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


# One line a study, in the order of their building upon one another; what follows shows and checks the results of all.
RULES = """
common costs
data data_views models
lira_common lira lira_evaluate lira_views
attacks_common attacks attacks_evaluate attacks_views
tabpate_common tabpate tabpate_evaluate tabpate_views
iclmem_common iclmem iclmem_evaluate iclmem_shown iclmem_views
ltmia_common ltmia ltmia_evaluate ltmia_views
predict_common predict predict_evaluate predict_views
views report provenance plan run release_common release audit_common audit
"""
for name in RULES.split():

    include: f"rules/{name}.smk"


localrules:
    all,


for study in STUDIES:

    rule:
        name:
            study
        input:
            views(study),
            rules.provenance_write_config.output[0],
        localrule: True


rule all:
    default_target: True
    input:
        [views(study) for study in STUDIES],
        rules.report.input,
