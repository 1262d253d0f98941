"""The share of records that count as memorized by chance alone, which follows from the config before any training."""

import math
import random
from collections.abc import Iterator

MOST_BY_CHANCE = 0.2  # of what is called memorized; `prediction_metrics.CHANCE_SHARE`
DRAWS = 20_000


def chance_share(models: int, least: float) -> float:
    """Share of records whose log-LiRA reaches `least` although no model depends on them, by simulation.

    models: shadow models, half of them with the record, all but the target fitted; least: in nats. Signals are
    Gaussian, and their location and scale do not matter. Standard error: 0.004 at most.
    """
    rng = random.Random(0)
    reached = 0
    for _ in range(DRAWS):
        signal = rng.gauss(0, 1)
        member, other = (_log_density(signal, count, rng) for count in (models // 2, models // 2 - 1))
        reached += member - other >= least
    return reached / DRAWS


def chance_faults(case: str, models: int, least: float) -> Iterator[str]:
    """Fault of a case for own records whose measured share would be refused after training (`user_records`)."""
    if (share := chance_share(models, least)) > MOST_BY_CHANCE:
        yield (
            f"own/case: {case} has {models} shadow models, by which {share:.0%} of all records reach {least:g} nats "
            f"(predict/memorized) by chance, and {MOST_BY_CHANCE:.0%} may; choose a case of more models, or say null"
        )


def _log_density(signal: float, count: int, rng: random.Random) -> float:
    """Log density of a signal, less a constant, under the Gaussian fitted to `count` standard normal signals."""
    mean = rng.gauss(0, 1) / math.sqrt(count)
    variance = rng.gammavariate((count - 1) / 2, 2 / count)  # chi-squared of count - 1 degrees of freedom, over count
    return -0.5 * (math.log(variance) + (signal - mean) ** 2 / variance)
