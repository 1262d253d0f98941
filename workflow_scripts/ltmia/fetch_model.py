"""Copy a language model from the hub into the run's folder.

python workflow_scripts/ltmia/fetch_model.py --output fetched=fetched --wildcards '{"model": "distilgpt2"}' \
    --params '{"hub": {"repo": "distilbert/distilgpt2", "revision": "main"}}'
"""

from memaudit.common.checksums import sha256
from memaudit.common.io import replacing_folder
from memaudit.data.model_hub import copy_model, fetched
from memaudit.workflow.job import run


def main(job):
    source = fetched(job.params.hub, f"language_models/{job.wildcards.model}")
    with replacing_folder(job.output.fetched) as folder:
        copy_model(source, folder)
    print(f"{job.params.hub['repo']}: {sha256(job.output.fetched)}")


if __name__ == "__main__":
    run(main, globals())
