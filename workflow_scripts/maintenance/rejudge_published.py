"""Judge a published run again, by the present claims and predicates, from the results that are kept beside it.

python workflow_scripts/maintenance/rejudge_published.py --output docs/results/lira.json \
    --input run=docs/results/lira.json results=docs/results/lira.parquet claims=config/claims.yaml

Its numbers stay as they were made; `make docs` renders the pages. Its main results are sentences of the present
form, or of their own where the run's config is no longer accepted.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml
from snakemake.utils import update_config

from memaudit.claims.claim_predicates import load
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, write_json
from memaudit.common.project_paths import PROJECT
from memaudit.config.name_checks import CATALOGUES
from memaudit.report.judged_results import JUDGE, judged_anew
from memaudit.workflow.digest import digest
from memaudit.workflow.job import run, tell
from memaudit.workflow.study_catalogue import prepare
from memaudit.workflow.view_files import Views


def main(job):
    published, views = read_json(job.input.run), {}
    try:
        views = _views(published)
    except AuditError as error:
        tell(f"rejudge: {job.input.run}: main results keep their form, since the config is of another time: {error}")
    for name, study in published["studies"].items():
        if "forms" in study and name in views and views[name].headlines:
            study["forms"] = views[name].headlines["sentences"]
    # As `publish_results` has them: one for each module of words that a study's tables load, and one without.
    words = {None} | {views[name].words for name in published["studies"] if name in views}
    code = " ".join(sorted(digest(JUDGE, env="statistics", loads=one) for one in words))
    anew = judged_anew(published, read_table(job.input.results), load(job.input.claims), code)
    write_json(anew, job.output[0])
    tell(f"rejudge: {job.output[0]} is judged by code {code}, before by {published['code'][JUDGE]}")


def _views(published: Mapping[str, Any]) -> dict[str, Views]:
    """The present views by study, filled with the run's config. Raises AuditError where that is no longer accepted."""
    named = re.search(r"--configfile (\S+)", published["command"])
    files = [*CATALOGUES.values(), "config/config.yaml", *([named[1]] if named else [])]
    present: dict[str, Any] = {}
    for file in files:
        update_config(present, yaml.safe_load((PROJECT / file).read_text(encoding="utf-8")))
    return prepare(present | _in_order(published["config"], present), PROJECT)[2]


def _in_order(config: Any, like: Any) -> Any:
    """The config with its keys as they stand in `like`: JSON sorts them, and of rules the first is the main one."""
    if not (isinstance(config, dict) and isinstance(like, dict)):
        return config
    keys = [*(key for key in like if key in config), *(key for key in config if key not in like)]
    return {key: _in_order(config[key], like.get(key)) for key in keys}


if __name__ == "__main__":
    run(main, globals())
