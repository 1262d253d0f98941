"""Read TPRs at fixed FPRs off one signal grid in seven ways, for growing numbers of shadow models (Figures 1, A1, A2).

python workflow_scripts/lira_evaluate_strategies.py --input wine.nc \
    --output strategies=strategies.parquet calibration=calibration.parquet sample_fpr=sample_fpr.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"sizes": [16, 32], "fpr": [0.1, 0.01], "replicates": 200}}'
"""

from collections.abc import Iterator

import pandas as pd

from memaudit import seeds, tidy
from memaudit.evaluation.strategies import QUANTILES, Outcome, evaluate
from memaudit.io import read_grid, write_table
from memaudit.job import run


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    strategies, calibration, sample_fpr = [], [], []
    for access in ("efficient", "oracle"):
        outcomes = evaluate(
            grid.signal.values,
            grid.design.values,
            lira["sizes"],
            fprs=lira["fpr"],
            oracle=access == "oracle",
            keep_fpr=True,
            replicates=lira["replicates"],
            rng=seeds.generator(job.params.seed, "lira", dataset, "strategies", access),
        )
        keys = {"dataset": dataset, "design": grid.draw, "access": access}
        for outcome in outcomes:
            of = keys | {"models": outcome.models, "fpr": outcome.fpr, "strategy": outcome.strategy}
            strategies.append(_tpr(outcome, of, lira["replicates"]))
            calibration += _calibration(outcome, of)
            if outcome.models == max(lira["sizes"]):
                sample_fpr.append(
                    pd.DataFrame({**of, "record": grid.record.values, "sample_fpr": outcome.fpr_per_record})
                )
        print(f"{access}: done", flush=True)
    write_table(tidy.frame(strategies), job.output.strategies)
    write_table(tidy.frame(calibration), job.output.calibration)
    write_table(pd.concat(sample_fpr, ignore_index=True), job.output.sample_fpr)
    return {"seed": job.params.seed}


def _tpr(outcome: Outcome, keys: dict, replicates: int) -> dict:
    return tidy.row(
        "lira",
        keys | {"enough_models": str(outcome.enough_models).lower()},
        "tpr",
        outcome.tpr,
        low=outcome.low,
        high=outcome.high,
        n=outcome.models * outcome.records,
        method=f"two-way bootstrap, {replicates} replicates",
        null=outcome.fpr,
    )


def _calibration(outcome: Outcome, keys: dict) -> Iterator[dict]:
    """How far the realised FPR, over all records and of single ones, strays from the nominal one."""
    common = {"n": outcome.records, "null": outcome.fpr}
    spread = dict(zip(QUANTILES, outcome.fpr_quantiles, strict=True))
    method = "pooled over OUT cells; low and high: 5 % and 95 % of the records' own"
    yield tidy.row(
        "lira", keys, "realised_fpr", outcome.realised_fpr, low=spread[0.05], high=spread[0.95], method=method, **common
    )
    yield tidy.row(
        "lira", keys, "fpr_spread", spread[0.95] - spread[0.05], method="95 % minus 5 % quantile of FPR_x", **common
    )
    share = "share of records with FPR_x above twice the nominal FPR"
    yield tidy.row(
        "lira", keys, "fpr_share_above_2x", outcome.share_above_twice, n=outcome.records, method=share, null=0.0
    )


if __name__ == "__main__":
    run(main, globals())
