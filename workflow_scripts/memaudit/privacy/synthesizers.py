"""AIM and MST of dpmm, fitted to categorical codes (McKenna et al. 2022, 2021).

dpmm needs older packages: its modules are imported where they are used, in the environment .venv-synth.
"""

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from memaudit.common.errors import AuditError

MEBIBYTES = 80  # of AIM's graphical model: the package's own limit


@dataclass(frozen=True)
class Synthesizer:
    """iterations: per fit of a graphical model to noisy counts; rounds: of AIM, for each column.

    Smaller values take less time and cost accuracy, never privacy. Raises AuditError for a budget or a number of rounds
    that guarantees nothing, though dpmm takes it.
    """

    method: Literal["aim", "mst"]
    epsilon: float
    delta: float
    iterations: int
    rounds: int

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < float("inf") and 0 < self.delta < 1):
            raise AuditError(
                f"synthesis: ({self.epsilon}, {self.delta}) guarantees nothing; use epsilon > 0, 0 < delta < 1"
            )
        # AIM begins with the counts of each column: 0.9 of a round's budget for each, above the budget with fewer.
        if self.rounds < 1:
            raise AuditError(
                f"synthesis: {self.rounds} rounds for each column exceed the budget of AIM; give at least 1"
            )

    def fitted(self, codes: pd.DataFrame, domain: dict[str, int]) -> Any:
        """A pipeline of dpmm fitted to `codes`, with fresh noise; domain: number of codes of each column."""
        import dpmm.models.mst
        from dpmm.models.base.mbi import FactoredInference
        from dpmm.pipelines import AIMPipeline, MSTPipeline

        # MST ignores n_iters and selects pairs with 2,500 iterations, which takes most of its time.
        dpmm.models.mst.FactoredInference = lambda domain, iters, **options: FactoredInference(
            domain, iters=min(iters, self.iterations), **options
        )
        options = {"delta": self.delta, "disable_processing": True, "n_jobs": 1}
        fitting = {"n_iters": self.iterations}
        if self.method == "aim":
            fitting["rounds"] = self.rounds * codes.shape[1]
            options["max_model_size"] = MEBIBYTES
        pipeline = {"aim": AIMPipeline, "mst": MSTPipeline}[self.method](
            epsilon=self.epsilon, **options, gen_kwargs=fitting
        )
        # Histograms of dpmm ignore a code that is too large, and its check would reveal a single row.
        pipeline.fit(codes.clip(0, pd.Series(domain) - 1, axis=1), domain=domain)
        return pipeline

    def synthesized(self, codes: pd.DataFrame, domain: dict[str, int], rows: int) -> pd.DataFrame:
        """Synthetic rows (rows, column) in the columns of `domain`, with fresh noise; arguments as of `fitted`."""
        columns = list(domain)
        return self.fitted(codes[columns], domain).generate(n_records=rows)[columns]
