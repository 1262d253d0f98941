"""Evaluate a score matrix by every aggregation strategy, for growing numbers of shadow models (Figures 1, A1, A2).

With it, at the largest number: which of two defences looks more private under each strategy (Section 4.1).

python workflow_scripts/lira/evaluate_strategies.py --input wine.nc \
    --output strategies=strategies.parquet calibration=calibration.parquet sample_fpr=sample_fpr.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1,
        "lira": {"sizes": [16, 32], "fpr": [0.1, 0.01], "replicates": 200, "oracle_models": null}}'

Oracle access has the first `oracle_models` alone, null: all. The null of a strategy is its TPR where membership is
redrawn by its own scheme.
"""

import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.scorable_redraws import redraw
from memaudit.studies.lira.aggregation_strategies import evaluate
from memaudit.studies.lira.defence_ranking import ranking_rows
from memaudit.studies.lira.strategy_rows import StrategyRows, without_leak
from memaudit.workflow.job import run

NULL_DRAWS = 5


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    units, strategies, calibration, sample_fpr = grid.unit.values, [], [], []
    for access, models in {"efficient": None, "oracle": lira["oracle_models"]}.items():
        signals, membership = (grid[name].values[:models] for name in ("signal", "design"))
        scheme = Scheme.of(grid.attrs).of_first(len(membership))
        sizes = [size for size in lira["sizes"] if size <= len(membership)]
        compared = {"sizes": sizes, "fprs": lira["fpr"], "oracle": access == "oracle"}
        rng = seeds.generator(job.params.seed, "lira", dataset, "null strategies", access)
        redraws = (redraw(scheme, membership, units, rng) for _ in range(NULL_DRAWS))
        nulls = without_leak(evaluate(signals, redraw, **compared) for redraw in redraws)
        rng = seeds.generator(job.params.seed, "lira", dataset, "strategies", access)
        options = {"keep_fpr": True, "replicates": lira["replicates"], "rng": rng, "groups": units}
        outcomes = evaluate(signals, membership, **compared, **options)
        rows = StrategyRows({"dataset": dataset, "design": grid.draw, "access": access}, lira["replicates"], nulls)
        for outcome in outcomes:
            strategies += rows.tpr(outcome)
            calibration += rows.calibration(outcome)
            if outcome.models == max(sizes):
                keys = rows.of(outcome)
                sample_fpr.append(pd.DataFrame({**keys, "record": grid.record, "sample_fpr": outcome.fpr_per_record}))
        strategies += rows.differences(outcomes)
        calibration += rows.calibration_differences(outcomes)
        print(f"{access}: done", flush=True)
    strategies += ranking_rows(
        grid.signal.values,
        grid.design.values,
        lira["fpr"],
        lambda: seeds.generator(job.params.seed, "lira", dataset, "defences"),
        replicates=lira["replicates"],
        groups=units,
        keys={"dataset": dataset, "design": grid.draw, "access": "efficient"},
    )
    write_table(tidy.frame(strategies), job.output.strategies)
    write_table(tidy.frame(calibration), job.output.calibration)
    write_table(pd.concat(sample_fpr, ignore_index=True), job.output.sample_fpr)
    return {"seed": job.params.seed}


if __name__ == "__main__":
    run(main, globals())
