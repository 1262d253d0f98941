"""Write down the merged config that the results were made with: `snakemake --configfile config.yaml` runs it again.

python workflow_scripts/provenance/write_config.py --output config.yaml --params '{"config": {"run": "demo"}}'
"""

import yaml

from memaudit.common.io import replacing
from memaudit.workflow.job import run


def main(job):
    with replacing(job.output[0]) as temporary:
        text = yaml.safe_dump(job.params.config, sort_keys=False, allow_unicode=True)
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main, globals())
