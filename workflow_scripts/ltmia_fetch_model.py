"""Bring a language model from the hub into the run's folder.

python workflow_scripts/ltmia_fetch_model.py --output fetched=fetched --wildcards '{"model": "distilgpt2"}' \
    --params '{"hub": {"repo": "distilbert/distilgpt2", "revision": "main"}}'
"""

import shutil

from memaudit.data.hub import TEXT_FILES, fetched
from memaudit.digest import sha256
from memaudit.io import replacing_folder
from memaudit.job import run


def main(job):
    source = fetched(job.params.hub, f"language_models/{job.wildcards.model}")
    with replacing_folder(job.output.fetched) as folder:
        for file in (file for pattern in TEXT_FILES for file in source.glob(pattern)):
            shutil.copyfile(file, folder / file.name)
    print(f"{job.params.hub['repo']}: {sha256(job.output.fetched)}")


if __name__ == "__main__":
    run(main, globals())
