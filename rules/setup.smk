"""Read and check the config before any rule: what is wrong with it, or with a file of config/views/, is one line."""

import copy
import sys
from pathlib import Path

from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, update_config

min_version("9.20")
# As a `module` of another workflow, workflow.basedir is the other one's folder.
if not workflow.current_basedir.is_local:
    raise WorkflowError(
        "memaudit: as a module it needs its library and its catalogues; clone it and give the clone's path"
    )
PROJECT = Path(str(workflow.current_basedir.get_path_or_uri(secret_free=True))).parent
# The library of this checkout, whichever memaudit is installed. Jobs take PYTHONPATH, those in conda environments the
# path of Snakemake itself.
sys.path.insert(0, str(PROJECT / "workflow_scripts"))

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.workflow import housekeeping, snakemake_handlers
from memaudit.workflow.digest import digest_when_planned as digest, rule_of
from memaudit.workflow.report_params import Page
from memaudit.workflow.run_config import UNIT_COSTS, grows, two_if_large
from memaudit.workflow.study_catalogue import prepare

housekeeping.pass_on_library()


CONFIG_FILES = [PROJECT / "config" / f"{name}.yaml" for name in ("datasets", "models", "language_models", "config")]

for path in CONFIG_FILES:

    configfile: path


if workflow.modifier.skip_configfile:
    # The `config:` of a module statement lies over the project's files, as a --configfile does.
    own = copy.deepcopy(config)
    for path in CONFIG_FILES:
        update_config(config, load_configfile(path))
    update_config(config, own)

try:
    RUN, STUDIES, VIEWS, WORKLOAD = prepare(config, PROJECT)
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
