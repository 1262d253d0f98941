"""Empirical epsilon of AIM and MST: lower bounds from refits with and without a canary, with their power and control.

python workflow_scripts/tabpate/audit_synthesizers.py --input mst.parquet --output synthesizers.parquet \
    --params '{"arms": ["mst"], "delta": 1e-5, "seed": 1}'

Inputs: the refits of each arm (refit_synthesizers.py), in the order of `arms`. With the noise off, the positive
control, the bound must be near the largest that so many refits can show.
"""

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.studies.tabpate.synthetic_audit import audited
from memaudit.workflow.job import run


def main(job):
    params = job.params
    rows = [
        row
        for arm, path in zip(params.arms, job.input, strict=True)
        for row in audited(read_table(path), arm, params.delta, params.seed)
    ]
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": params.seed}


if __name__ == "__main__":
    run(main, globals())
