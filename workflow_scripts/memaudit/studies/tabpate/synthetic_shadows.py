"""Refits of a synthesizer with and without a canary: what an adversary sees of each (TabPATE, Appendix C).

The worst case that the guarantee allows: all records are equal but the canary, whose codes no other record has, and the
adversary knows all of them. The codes have two values in each column, so that no bins are released and the synthesizer
has the whole budget. Scores are fixed in advance:

`synthetic_records` what is released: synthetic cells that have the canary's code;
`noisy_counts` what the synthesizer measured before it fitted its model, which nobody is shown: noisy counts of the
    canary's codes, each weighted by 1 / sigma^2, the likelihood ratio of Gaussian noise.

Noise is dpmm's and has no seed. This module is imported in .venv-synth, too: it needs numpy and pandas alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common.progress_bar import steps
from memaudit.privacy.synthesizers import Synthesizer

COLUMNS = ("0", "1", "target")
RECORDS = 100  # their counts exceed the noise, so that dpmm keeps their codes apart from rare ones
ROWS = 1000  # synthetic: ten for each record, so that rounding hides no record
OFF = 1e3  # epsilon of the positive control: its noise is a tenth of a record, and the model can still be fitted
SCORES = ("synthetic_records", "noisy_counts")
CODES = dict.fromkeys(COLUMNS, 2)


def refits(synthesizer: Synthesizer, epsilons: Sequence[float], number: int) -> pd.DataFrame:
    """Scores of `number` refits with the canary and as many without it, at each epsilon and with the noise off.

    Columns: epsilon, noise (`stated` or `off`, whose epsilon is that of the smallest promise), member, and `SCORES`.
    """
    conditions = [(epsilon, "stated", epsilon) for epsilon in epsilons] + [(min(epsilons), "off", OFF)]
    fits = [(*one, member) for one in conditions for _ in range(number) for member in (True, False)]
    return pd.DataFrame(
        [
            {"epsilon": epsilon, "noise": noise, "member": member, **_scores(replace(synthesizer, epsilon=own), member)}
            for epsilon, noise, own, member in steps(fits, "refits")
        ]
    )


def neighbour(member: bool) -> pd.DataFrame:
    """The table with the canary or without it: codes (record, column), 0 but for the canary's."""
    codes = np.zeros((RECORDS + member, len(COLUMNS)), dtype=np.int64)
    codes[RECORDS:] = 1
    return pd.DataFrame(codes, columns=list(COLUMNS))


def _scores(synthesizer: Synthesizer, member: bool) -> dict[str, float]:
    pipeline = synthesizer.fitted(neighbour(member), CODES)
    synthetic = pipeline.generate(n_records=ROWS)
    found = float((synthetic[list(COLUMNS)] == 1).to_numpy().sum()), _noisy_counts(pipeline.gen.generator.measures)
    return dict(zip(SCORES, found, strict=True))


def _noisy_counts(measures: Sequence[tuple[Any, np.ndarray, float, Any]]) -> float:
    # The last entry of a marginal counts the canary's codes; dpmm keeps that place where it merges rare codes.
    return sum(float(np.ravel(counts)[-1]) / sigma**2 for _, counts, sigma, _ in measures)
