"""Write a study's main results as sentences with the numbers of its tidy results.

python workflow_scripts/views/state_headlines.py --input attacks.parquet --output headlines.parquet \
    --wildcards '{"study": "lira"}' --params '{"headlines": [{"answers": "memorized", "per": ["dataset"],
        "values": {"auc": {"metric": "auc", "where": {"attack": "lira mean", "records": "members"}}},
        "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}."}]}'
"""

import pandas as pd

from memaudit.common.io import read_table, write_table
from memaudit.statistics.headlines import Headline, state
from memaudit.workflow.job import run


def main(job):
    results = pd.concat([read_table(path) for path in job.input], ignore_index=True)
    stated = state(job.wildcards.study, [Headline.model_validate(entry) for entry in job.params.headlines], results)
    write_table(stated, job.output[0])
    print("\n".join(stated["sentence"].drop_duplicates()))


if __name__ == "__main__":
    run(main, globals())
