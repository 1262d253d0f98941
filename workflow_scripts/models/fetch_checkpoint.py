"""Copy a model into the run's folder from a local path or a hub, and write its card.

python workflow_scripts/models/fetch_checkpoint.py --input resources/tabicl-small/tabicl-small.ckpt \
    --output card=model.json weights=weights --wildcards '{"model": "tabicl-small"}' \
    --params '{"entry": {"family": "tabicl", "task": "classification", "mode": "raw", "version": null, "options": {},
        "estimator": null, "params": {}, "path": "...", "hub": null, "sha256": null, "licence": "MIT", "terms": null}}'

The weights keep their names, from which packages read versions. An estimator has no weights: its folder names the class
and its parameters. The only token for a hub is that of the environment variable HF_TOKEN.
"""

from pathlib import Path

from memaudit.common.checksums import check_sum
from memaudit.common.errors import AuditError
from memaudit.common.hub_address import hub_address
from memaudit.common.io import replacing_folder
from memaudit.data.model_hub import copy_model, fetched
from memaudit.models.written_folder import write_card, write_estimator
from memaudit.workflow.job import run


def main(job):
    entry, name = job.params.entry, job.wildcards.model
    with replacing_folder(job.output.weights) as folder:
        if entry["estimator"]:
            write_estimator(entry, folder)
        else:
            if entry["path"] and not job.input:
                raise AuditError(f"models/{name}/path: there is no file {entry['path']}; give the checkpoint's path")
            source = Path(job.input[0]) if entry["path"] else fetched(entry["hub"], f"models/{name}", entry["terms"])
            check_sum(source, entry["sha256"], f"models/{name}")
            copy_model(source, folder)
    origin = entry["path"] or entry["estimator"] or hub_address(entry["hub"])
    write_card(job.output.card, name, entry, origin, job.output.weights)


if __name__ == "__main__":
    run(main, globals())
