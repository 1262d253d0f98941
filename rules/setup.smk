"""Read and check the config before any rule: what is wrong with it, or with a file of config/views/, is one line."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.20")
sys.path.insert(0, str(Path(workflow.basedir, "workflow_scripts")))

from memaudit.digest import digest, sha256
from memaudit.errors import AuditError
from memaudit.workflow import handlers
from memaudit.workflow.catalogue import prepare
from memaudit.workflow.page import Page
from memaudit.workflow.run import grows


configfile: Path(workflow.basedir, "config", "datasets.yaml")
configfile: Path(workflow.basedir, "config", "models.yaml")
configfile: Path(workflow.basedir, "config", "language_models.yaml")
configfile: Path(workflow.basedir, "config", "config.yaml")


try:
    RUN, STUDIES, VIEWS, WORKLOAD = prepare(config, workflow.basedir)
except AuditError as error:
    raise WorkflowError(str(error))
config.update(RUN.config)


pathvars:
    results=RUN.folder,


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    split="|".join(config["data"]["splits"]),
    study="|".join(STUDIES),
    shard=r"\d+",
