"""Intraclass correlation of a two-way layout, with its confidence interval."""

from scipy.stats import f as f_distribution


def icc(between: float, within: float, runs: int, splits: int) -> dict[str, float]:
    """ICC(C,1) with its 95 % interval from the F distribution (McGraw and Wong 1996): estimate, low, high.

    between: variance over splits of the mean of their `runs` runs; within: residual variance of a single run; each run
    stands in all splits. 0 for independent runs, 1 where all runs of a split deviate alike.
    """
    common, quantile = runs * between, f_distribution(splits - 1, (splits - 1) * (runs - 1)).ppf
    residual = {"estimate": within, "low": within * quantile(0.975), "high": within * quantile(0.025)}
    return {name: (common - one) / (common + (runs - 1) * one) for name, one in residual.items()}
