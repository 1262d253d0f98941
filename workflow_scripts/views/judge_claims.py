"""Judge the claims of a study's paper (config/claims.yaml) by the tidy results of the study.

python workflow_scripts/views/judge_claims.py --input claims=config/claims.yaml a.parquet b.parquet \
    --output claims.parquet --wildcards '{"study": "lira"}'
"""

import pandas as pd

from memaudit.common.io import read_table, write_table
from memaudit.statistics.claims import load
from memaudit.statistics.verdicts import verdicts
from memaudit.workflow.job import run


def main(job):
    claims = [claim for claim in load(job.input.claims) if claim.study == job.wildcards.study]
    results = pd.concat([read_table(path) for path in job.input[1:]], ignore_index=True)
    judged = verdicts(claims, results)
    write_table(judged, job.output[0])
    print(judged.verdict.value_counts().to_string())


if __name__ == "__main__":
    run(main, globals())
