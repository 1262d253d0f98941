"""Fetch one unchanged table from scikit-learn, OpenML, a file or an address, and record its origin.

python workflow_scripts/data/fetch_table.py --output table=raw.parquet facts=raw.json \
    --params '{"entry": {"source": "sklearn", "name": "wine"}, "openml_cache": null, "downloads": "downloads"}'
"""

from memaudit.common.io import write_json
from memaudit.common.private_files import keep_private
from memaudit.data.table_sources import fetch
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output.table)
    facts = fetch(job.params.entry, job.output.table, job.params.downloads, job.params.openml_cache, job.threads)
    write_json(facts, job.output.facts)
    print(f"{facts['origin']}: {facts['rows']} rows, {len(facts['columns'])} columns, sha256 {facts['sha256']}")
    return {"origin": facts["origin"], "source_sha256": facts["sha256"]}


if __name__ == "__main__":
    run(main, globals())
