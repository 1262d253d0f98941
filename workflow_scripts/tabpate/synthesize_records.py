"""Synthesize private records with AIM or MST (McKenna et al. 2022, 2021; TabPATE, Appendix C, "DP-Synthetic Data").

python workflow_scripts/tabpate/synthesize_records.py --input codes=codes.parquet bins=bins.json \
    --output synthetic.parquet --params '{"code": "by hand", "method": "mst", "epsilon": 1.0, "delta": 1e-5,
        "iterations": 100, "rounds": 16, "rows": 500}'

codes: private records as categorical codes, with columns `epsilon` and `seed` that name their sample; bins: number of
codes of each column, and the epsilon that is left after the release of their bins (both from code_records.py). For each
sample, `rows` records are synthesized with (epsilon, delta)-DP for adding or removing one row, bins included.
iterations: per fit of a graphical model to noisy counts; rounds: of AIM, for each column. Smaller values take less time
and cost accuracy, never privacy.

The synthesizers are those of dpmm, whose noise is OpenDP's and has no seed. dpmm needs older packages: where it is not
installed, the script runs itself again in .venv-synth.
"""

from typing import Any

import pandas as pd

from memaudit.common.io import read_json, read_table, write_table
from memaudit.privacy.synthesizers import Synthesizer
from memaudit.workflow.job import run
from memaudit.workflow.synthesizer_environment import handed_over, is_here, versions


def main(job):
    if not is_here():
        return handed_over(job, __file__, ("codes", "bins"))
    codes, params = read_table(job.input.codes), job.params
    bins = read_json(job.input.bins)[str(float(params.epsilon))]
    codes = codes[codes["epsilon"] == params.epsilon].drop(columns="epsilon")
    parts = [
        synthesized(sample.drop(columns="seed"), bins[str(seed)], params).assign(seed=seed)
        for seed, sample in codes.groupby("seed")
    ]
    write_table(pd.concat(parts, ignore_index=True), job.output[0])
    return {"seed": None, "versions": versions()}


def synthesized(codes: pd.DataFrame, bins: dict[str, Any], params: Any) -> pd.DataFrame:
    """`params.rows` synthetic rows in the columns of the bins, which have the epsilon that they leave."""
    synthesizer = Synthesizer(params.method, bins["epsilon"], params.delta, params.iterations, params.rounds)
    # A file has the columns of all epsilons; where one has fewer, the others are empty.
    domain = {name: bins["counts"][name] for name in codes.columns if name in bins["counts"]}
    return synthesizer.synthesized(codes[list(domain)].astype("int64"), domain, params.rows)


if __name__ == "__main__":
    run(main, globals())
