"""Read and check the config before any rule: what is wrong with it, or with a file of config/views/, is one line."""

import copy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import HostingProviderFile, LocalSourceFile
from snakemake.utils import min_version, update_config

min_version("9.20")


def checked_out(source):
    """Folder of the whole project at the commit of an address: library and catalogues are more than Snakemake fetches."""
    source.fetch_if_required()
    clone = source.hosted_repo.repo
    commit = clone.commit(source.ref).hexsha
    folder = Path(".snakemake", "memaudit", commit).absolute()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as draft:
            clone.clone(f"{draft}/memaudit", no_checkout=True).git.checkout("--detach", commit)
            try:
                Path(draft, "memaudit").replace(folder)
            except OSError:
                if not folder.exists():  # else another start was first
                    raise
    return folder


# As a `module` of another workflow, workflow.basedir is the other one's folder.
SOURCE = workflow.current_basedir
if isinstance(SOURCE, LocalSourceFile):
    PROJECT = Path(SOURCE.path).parent
elif isinstance(SOURCE, HostingProviderFile):
    PROJECT = checked_out(SOURCE)
else:
    raise WorkflowError(
        f"memaudit: {SOURCE}: a module needs its library and its catalogues; give github(...), gitlab(...) or a clone's path"
    )
# The library of this checkout, whichever memaudit is installed. Jobs take PYTHONPATH, those in conda environments the
# path of Snakemake itself.
sys.path.insert(0, str(PROJECT / "workflow_scripts"))

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.job_inputs import several
from memaudit.common.snakemake_command import mark_no_start
from memaudit.workflow import housekeeping, job_progress, snakemake_handlers
from memaudit.workflow.digest import digest_when_planned as digest, rule_of
from memaudit.workflow.report_params import Page
from memaudit.workflow.run_config import UNIT_COSTS, grows, two_if_large
from memaudit.workflow.study_catalogue import prepare

housekeeping.pass_on_library()
job_progress.keep_screen_short(logger)
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
    RUN, STUDIES, VIEWS, WORKLOAD = prepare(config, PROJECT, [*CONFIG_FILES, *workflow.overwrite_configfiles])
except AuditError as error:
    mark_no_start()
    sys.exit(f"memaudit: {error}")  # one line, where a WorkflowError would have its own around it
config.update(RUN.config)


pathvars:
    results=RUN.folder,


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    split="|".join(config["data"]["splits"]),
    study="|".join(STUDIES),
    shard=r"\d+",
