"""Read TPRs at fixed FPRs off one score matrix in seven ways, for growing numbers of shadow models (Figures 1, A1, A2).

python workflow_scripts/lira/evaluate_strategies.py --input wine.nc \
    --output strategies=strategies.parquet calibration=calibration.parquet sample_fpr=sample_fpr.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"sizes": [16, 32], "fpr": [0.1, 0.01], "replicates": 200}}'
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memaudit import seeds, tidy
from memaudit.io import read_grid, write_table
from memaudit.statistics.bootstrap import interval
from memaudit.studies.lira.aggregation_strategies import Outcome, evaluate
from memaudit.workflow.job import run

# Differences that the paper's claims are about: paired, so that their intervals are narrow.
PAIRS = [("naive", "pp"), ("pp_normal", "pp"), ("pp_t", "pp"), ("per_sample", "pp"), ("pp", "per_sample")]


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
            groups=grid.unit.values,
        )
        study = Rows({"dataset": dataset, "design": grid.draw, "access": access}, lira["replicates"])
        for outcome in outcomes:
            strategies.append(study.tpr(outcome))
            calibration += study.calibration(outcome)
            if outcome.models == max(lira["sizes"]):
                keys = study.of(outcome)
                sample_fpr.append(pd.DataFrame({**keys, "record": grid.record, "sample_fpr": outcome.fpr_per_record}))
        strategies += study.differences(outcomes)
        print(f"{access}: done", flush=True)
    write_table(tidy.frame(strategies), job.output.strategies)
    write_table(tidy.frame(calibration), job.output.calibration)
    write_table(pd.concat(sample_fpr, ignore_index=True), job.output.sample_fpr)
    return {"seed": job.params.seed}


@dataclass(frozen=True)
class Rows:
    """Tidy rows of outcomes that share these keys."""

    keys: dict[str, str]
    replicates: int

    def of(self, outcome: Outcome) -> dict[str, Any]:
        """The keys of one outcome."""
        return self.keys | {"models": outcome.models, "fpr": outcome.fpr, "strategy": outcome.strategy}

    def tpr(self, outcome: Outcome) -> dict:
        """Its TPR, marked where the paper's rule M >= 2/FPR does not hold."""
        method = self._method("two-way") + ("" if outcome.enough_models else ", M < 2/FPR")
        return self._row(outcome, "tpr", outcome.tpr, outcome.samples.tpr, method)

    def calibration(self, outcome: Outcome) -> Iterator[dict]:
        """How far the realised FPR, over all records and of single ones, strays from the nominal one."""
        samples, records = outcome.samples, self._method("records")
        spread = outcome.fpr_quantiles[4] - outcome.fpr_quantiles[0]
        yield self._row(outcome, "realised_fpr", outcome.realised_fpr, samples.realised_fpr, self._method("two-way"))
        yield self._row(outcome, "fpr_spread", spread, samples.fpr_spread, records, null=0.0)
        share = outcome.share_above_twice
        yield self._row(outcome, "fpr_share_above_2x", share, samples.share_above_twice, records, null=0.0)

    def differences(self, outcomes: list[Outcome]) -> Iterator[dict]:
        """TPR of one strategy less that of another, replicate by replicate."""
        found = {(one.models, one.fpr, one.strategy): one for one in outcomes}
        for (models, fpr, strategy), one in found.items():
            for other in (right for left, right in PAIRS if left == strategy):
                two = found.get((models, fpr, other))
                if two:
                    sample = one.samples.tpr - two.samples.tpr
                    row = self._row(
                        one, "tpr_difference", one.tpr - two.tpr, sample, self._method("paired two-way"), null=0.0
                    )
                    keys = self.of(one) | {"strategy": f"{strategy}-{other}"}
                    yield row | {"setting": tidy.setting(keys)}

    def _method(self, kind: str) -> str:
        return f"{kind} bootstrap, {self.replicates} replicates; LiRA: mean, ddof 0, target left out"

    def _row(self, outcome, metric: str, estimate: float, sample, method: str, null: float | None = None) -> dict:
        low, high = interval(sample)
        return tidy.row(
            "lira",
            self.of(outcome),
            metric,
            estimate,
            low=low,
            high=high,
            n=outcome.models * outcome.records,
            method=method,
            null=outcome.fpr if null is None else null,
        )


if __name__ == "__main__":
    run(main, globals())
