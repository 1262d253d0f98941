"""What a planned release can be expected to keep, from what contexts of public tables of like size have kept."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from memaudit.privacy.accounting import Budget
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import Settings
from memaudit.statistics.kept_share import KeptShare
from memaudit.statistics.private_gains import mean_of_shares, samples_like, tables_of

# Method of `measured_gains.METHODS` by labels and equal_classes; `learned` was measured with equal classes alone.
MEASURED = {
    ("group", False): "class_moments",
    ("group", True): "class_moments, equal classes",
    ("learned", False): "learned, equal classes",
    ("learned", True): "learned, equal classes",
    ("votes", False): "as_published",
}


def in_lines(measured: Mapping[str, Any], settings: Settings, budget: Budget, public: Public) -> Iterator[str]:
    """The expected share of the non-private gain, a line each; measured: results/bench/private_gain.json."""
    if public.task != "classification":
        yield "expected accuracy: unknown, no regression was measured; run the study tabpate on a public table like it"
        return
    method = MEASURED[settings.labels, settings.equal_classes]
    tables = tables_of(measured["parts"].values())
    known = {of for name, of, _ in tables[0].gains if name == method}
    epsilon = min(known, key=lambda one: abs(math.log(one / budget.epsilon)))
    found = samples_like(tables, public.records)
    shares = {table.table: table.share(method, epsilon, size) for table, size in found}
    sizes = sorted({size for _, size in found})
    yield (
        f"expected accuracy, measured on public tables: contexts by `{method}` keep "
        f"{_text(KeptShare(*mean_of_shares(list(shares.values()))))} of the gain over chance of the table itself (0%: "
        f"chance; 95 % interval), in the mean of {len(found)} tables of "
        f"{' to '.join(f'{size:,}' for size in dict.fromkeys((sizes[0], sizes[-1])))} records at epsilon {epsilon:g}"
    )
    yield "  " + ", ".join(f"{name} {_text(share)}" for name, share in shares.items())
    yield (
        f"  measured with tabicl-small at delta {measured['delta']:g} and the settings of docs/private-gain.md"
        + (", with `equal_classes: true`" if settings.labels == "learned" and not settings.equal_classes else "")
        + ", not with yours; tables differ as these do"
    )
    if not sizes[0] / 2 <= public.records <= 2 * sizes[-1] or epsilon != budget.epsilon:
        yield f"  nearest to yours of what was measured: {public.records:,} records, epsilon {budget.epsilon:g}"


def _text(share: KeptShare) -> str:
    if math.isnan(share.estimate):
        return "not testable"
    return f"{share.estimate:.0%} ({share.low:.0%} to {share.high:.0%})"
