"""Refits of a synthesizer with and without a canary: what an adversary sees of each (TabPATE, Appendix C).

The worst case that the guarantee allows: all records are equal but the canary, whose codes no other record has, and the
adversary knows all of them. The codes have two values in each column, so that no bins are released and the synthesizer
has the whole budget. Scores are fixed in advance:

`synthetic_records` what is released: synthetic cells that have the canary's code;
`noisy_counts` what the synthesizer measured before it fitted its model, which nobody is shown: noisy counts of the
    canary's codes, each weighted by 1 / sigma^2, the likelihood ratio of Gaussian noise.

Noise is dpmm's and has no seed. This module is imported in .venv-synth, too: it needs numpy and pandas alone.
"""

from collections.abc import Callable, Sequence
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
Part = Callable[[str, Callable[[], np.ndarray]], np.ndarray]


def refits(
    synthesizer: Synthesizer,
    epsilons: Sequence[float],
    number: int,
    part: Part = lambda _, compute: compute(),
) -> pd.DataFrame:
    """Scores of `number` refits with the canary and as many without it, at each epsilon and with the noise off.

    Columns: epsilon, noise (`stated` or `off`, whose epsilon is that of the smallest promise), member, and `SCORES`.
    part: of a scratch folder (workflow/scratch.py), which keeps the scores of each refit under a name of its own.
    """
    conditions = [(epsilon, "stated", epsilon) for epsilon in epsilons] + [(min(epsilons), "off", OFF)]
    fits = [(*one, repeat, member) for one in conditions for repeat in range(number) for member in (True, False)]
    found = [
        part(
            f"{epsilon:g} {noise} {repeat:06d} {'with' if member else 'without'}",
            lambda own=own, member=member: _scores(replace(synthesizer, epsilon=own), member),
        )
        for epsilon, noise, own, repeat, member in steps(fits, "refits")
    ]
    keys = pd.DataFrame(fits, columns=["epsilon", "noise", "own", "repeat", "member"])
    return keys[["epsilon", "noise", "member"]].join(pd.DataFrame(np.stack(found), columns=list(SCORES)))


def neighbour(member: bool) -> pd.DataFrame:
    """The table with the canary or without it: codes (record, column), 0 but for the canary's."""
    codes = np.zeros((RECORDS + member, len(COLUMNS)), dtype=np.int64)
    codes[RECORDS:] = 1
    return pd.DataFrame(codes, columns=list(COLUMNS))


def _scores(synthesizer: Synthesizer, member: bool) -> np.ndarray:
    """Scores of one refit, in the order of `SCORES`."""
    pipeline = synthesizer.fitted(neighbour(member), CODES)
    synthetic = pipeline.generate(n_records=ROWS)
    records = float((synthetic[list(COLUMNS)] == 1).to_numpy().sum())
    return np.array([records, _noisy_counts(pipeline.gen.generator.measures)])


def _noisy_counts(measures: Sequence[tuple[Any, np.ndarray, float, Any]]) -> float:
    # The last entry of a marginal counts the canary's codes; dpmm keeps that place where it merges rare codes.
    return sum(float(np.ravel(counts)[-1]) / sigma**2 for _, counts, sigma, _ in measures)
