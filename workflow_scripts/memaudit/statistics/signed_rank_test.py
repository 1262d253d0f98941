"""Wilcoxon's signed-rank test of paired differences, as tidy rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from scipy.stats import wilcoxon

from memaudit.common import tidy
from memaudit.common.arrays import Array

FEWEST = 5  # differences: fewer cannot be significant


def signed_rank_rows(study: str, keys: Mapping[str, Any], differences: Array, over: str) -> Iterator[dict[str, Any]]:
    """Row of the two-sided test of differences (pair,); none for fewer than 5, or where all are 0.

    over: the pairs, for the method.
    """
    if len(differences) >= FEWEST and differences.any():
        method = f"Wilcoxon signed-rank test over {len(differences)} {over}, two-sided"
        facts = {"unit": "probability", "n": len(differences), "method": method}
        yield tidy.row(study, keys, "wilcoxon p-value", wilcoxon(differences).pvalue, **facts)
