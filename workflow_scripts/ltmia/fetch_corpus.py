"""Read the documents of one corpus from an installed package, a local file, or a data set on the hub.

python workflow_scripts/ltmia/fetch_corpus.py --output documents=scipy.parquet facts=scipy.json \
    --wildcards '{"dataset": "scipy"}' --params '{"seed": 1, "entry": {"source": "package", "package": "scipy",
        "content": "text", "characters": 800000, "sha256": null}}'

Documents are taken in random order until they have `characters` characters. Only a corpus of the hub uses the network.
"""

import os

from memaudit import OFFLINE
from memaudit.common import seeds
from memaudit.common.io import write_json, write_table
from memaudit.common.private_files import keep_private
from memaudit.data.corpus_documents import documents_of
from memaudit.workflow.job import run


def main(job):
    entry, dataset = job.params.entry, job.wildcards.dataset
    if entry["source"] == "hub":
        for variable in OFFLINE:  # read by the hub's client on import
            os.environ.pop(variable, None)
    keep_private(job.output.documents)
    rng = seeds.generator(job.params.seed, "ltmia", dataset, "documents")
    documents, facts = documents_of(entry, rng)
    write_table(documents, job.output.documents)
    write_json(facts, job.output.facts)
    print(f"{dataset}: {facts}", flush=True)
    return {"seed": job.params.seed, "origin": facts["origin"], "source_sha256": facts["sha256"]}


if __name__ == "__main__":
    run(main, globals())
