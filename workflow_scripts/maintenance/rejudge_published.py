"""Judge a published run again, by the present claims and predicates, from the results that are kept beside it.

python workflow_scripts/maintenance/rejudge_published.py --output docs/results/lira.json \
    --input run=docs/results/lira.json results=docs/results/lira.parquet claims=config/claims.yaml

Its numbers stay as they were made; `make docs` renders the pages.
"""

from memaudit.common.io import read_json, read_table, write_json
from memaudit.report.judged_results import JUDGE, judged_anew
from memaudit.statistics.claims import load
from memaudit.workflow.digest import digest
from memaudit.workflow.job import run, tell


def main(job):
    published, code = read_json(job.input.run), digest(JUDGE, env="statistics")
    anew = judged_anew(published, read_table(job.input.results), load(job.input.claims), code)
    write_json(anew, job.output[0])
    tell(f"rejudge: {job.output[0]} is judged by code {code}, before by {published['code'][JUDGE]}")


if __name__ == "__main__":
    run(main, globals())
