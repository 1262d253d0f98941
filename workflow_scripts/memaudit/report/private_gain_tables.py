"""Sentences, tables and figure of docs/private-gain.md from results/bench/private_gain.json."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from memaudit.plotting.private_gain_figure import Line, kept_shares
from memaudit.plotting.result_tables import texts_table
from memaudit.statistics.kept_share import MET, NO_GAIN, NOT_MET, UNDECIDED, KeptShare
from memaudit.statistics.mean_interval import mean_over_groups
from memaudit.statistics.private_gains import (
    BASELINES,
    DEMANDS,
    NON_PRIVATE,
    PLAIN,
    WITHOUT_NOISE,
    Difference,
    TableGains,
    best_method,
    demand,
    limit,
    mean_difference,
    mean_share,
    tables_of,
)

COMMON = 1000  # records near which all tables are compared
AT_LARGEST = "the largest samples"
CORRECTION = ("class_moments, equal classes", "class_moments")
WORDS = {MET: "met", UNDECIDED: "undecided", NOT_MET: "not met", NO_GAIN: "not testable"}


def context(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/private-gain.md names; measured: parts, each a repeat of a table."""
    parts = list(measured["parts"].values())
    tables = tables_of(parts)
    repeats = {table.table: sum(part["table"] == table.table for part in parts) for table in tables}
    return {
        "minutes": sum(part["cpu_seconds"] for part in parts) / 60,
        "repeats": _span(repeats.values()),
        "aim": _aim(tables),
        "sentences": [sentence for epsilon in DEMANDS for sentence in _sentences(tables, epsilon)],
        "demands": texts_table(
            ["epsilon", "table", "classes", "columns", "records", "demanded", "kept", "verdict", "met from"],
            [row for epsilon in DEMANDS for table in tables for row in _demanded(table, epsilon, tables)],
        ),
        "means": texts_table(
            ["method", *(f"epsilon {epsilon:g}, {where}" for epsilon in DEMANDS for where in (COMMON, "largest"))],
            [[method, *_means(tables, method)] for method in _methods(tables)],
        ),
        "differences": texts_table(
            ["epsilon", "method", "minus", f"near {COMMON:,} records", AT_LARGEST],
            [row for epsilon in DEMANDS for row in _differences(tables, epsilon)],
        ),
        "corrected": texts_table(
            ["method", *(f"epsilon {epsilon:g}" for epsilon in DEMANDS)],
            [
                [method, *(_points(_corrected(parts, method, epsilon)) for epsilon in DEMANDS)]
                for method in _methods(tables)
                if not method.startswith(BASELINES)
            ],
        ),
        "tables": texts_table(
            [
                "table",
                "records",
                "tested in a repeat",
                "repeats",
                "non-private gain at the largest sample",
                "without noise",
            ],
            [[*_facts(table, parts), *_references(table, repeats)] for table in tables],
        ),
    }


def _aim(tables: Sequence[TableGains]) -> str:
    """Whether all demands are met by the best context of each epsilon, and how many are."""
    found = [
        table.share(best, epsilon, size).verdict(demand(epsilon, size))
        for epsilon, best in ((epsilon, best_method(tables, epsilon)) for epsilon in DEMANDS)
        for table in tables
        for size in _judged(table, epsilon)
    ]
    counts = ", ".join(f"{found.count(verdict)} {word}" for verdict, word in WORDS.items() if verdict in found)
    return f"The aim is {'' if set(found) == {MET} else 'not '}met: of {len(found)} demands, {counts}."


def _corrected(parts: Sequence[Mapping[str, Any]], method: str, epsilon: float) -> Difference:
    """Mean over tables, at the largest samples, of the balanced accuracy that the rule by class shares adds."""
    added: dict[str, list[float]] = {}
    for part in parts:
        cells = [cell for cell in part["cells"] if (cell["method"], cell["epsilon"]) == (method, epsilon)]
        largest = max(cells, key=lambda cell: cell["n"])
        added.setdefault(part["table"], []).append(largest["by share"] - largest["largest"])
    return mean_over_groups([np.array(values) for values in added.values()])


def figure(measured: Mapping[str, Any]) -> Figure:
    """Shares against the number of records, by table and epsilon."""
    tables = tables_of(measured["parts"].values())
    best = {epsilon: best_method(tables, epsilon) for epsilon in DEMANDS}
    panels = {
        f"{epsilon:g}": {one.table: list(_lines(one, epsilon, best[epsilon])) for one in tables} for epsilon in DEMANDS
    }
    wanted = {
        f"{epsilon:g}": {one.table: [demand(epsilon, size) for size in one.sizes] for one in tables}
        for epsilon in DEMANDS
    }
    return kept_shares(panels, wanted)


def _lines(table: TableGains, epsilon: float, best: str) -> Iterator[Line]:
    """Lines of a panel; that of the best context alone has a band."""
    for method in (name for name in _methods([table]) if not name.endswith(PLAIN)):
        shares = [table.share(method, epsilon, size) for size in table.sizes]
        ends = [[one.low, one.high] if method == best else [np.nan, np.nan] for one in shares]
        yield Line(method, table.sizes, [[one.estimate, *pair] for one, pair in zip(shares, ends, strict=True)])


def _methods(tables: Sequence[TableGains]) -> list[str]:
    """Methods with an epsilon, in the order measured."""
    return list(dict.fromkeys(method for method, epsilon, _ in tables[0].gains if epsilon is not None))


def _sentences(tables: Sequence[TableGains], epsilon: float) -> Iterator[str]:
    """What holds at this epsilon: the mean share, where the demand is met and not, why, and the baselines."""
    best = best_method(tables, epsilon)
    yield (
        f"**Epsilon {epsilon:g}.** The best private context, `{best}`, keeps "
        f"{_text(mean_share(tables, best, epsilon))} of the non-private gain in the mean over the largest samples of "
        f"{len(tables)} tables."
    )
    larger = [table for table in tables if table.sizes[-1] > COMMON]
    if larger:
        near, largest = (_text(mean_share(larger, best, epsilon, size)) for size in (COMMON, None))
        yield (
            f"More records: on the {len(larger)} tables with more than {COMMON:,}, it keeps {near} near {COMMON:,} and "
            f"{largest} at {AT_LARGEST}."
        )
    found: dict[str, list[str]] = {verdict: [] for verdict in WORDS}
    for table in tables:
        for size in _judged(table, epsilon):
            share, wanted = table.share(best, epsilon, size), demand(epsilon, size)
            found[share.verdict(wanted)].append(f"{table.table} with {size:,} records ({wanted:.0%})")
    for verdict, places in found.items():
        if places:
            yield f"The demand is {WORDS[verdict]} on {', '.join(places)}."
    for table in tables:
        if reason := limit(table, best, epsilon):
            size, facts = table.sizes[-1], f"{table.classes} classes, {table.features} columns"
            yield f"The limit on {table.table} ({size:,} records, {facts}) is {reason}."
    for other in (*BASELINES, *(name + PLAIN for name in BASELINES)):
        near, largest = (_compared(mean_difference(tables, best, other, epsilon, size)) for size in (COMMON, None))
        behind = [one.table for one in tables if mean_difference([one], best, other, epsilon)[2] < 0]
        where = f"; it is behind on {', '.join(behind)}" if behind else ""
        yield f"Against `{other}`, in the mean: {near} near {COMMON:,} records, {largest} at {AT_LARGEST}{where}."
    two = [one for one in tables if one.classes == 2]
    if two and len(two) < len(tables):
        compared = [f"against `{other}` {_compared(mean_difference(two, best, other, epsilon))}" for other in BASELINES]
        yield (
            f"On the {len(two)} tables of two classes alone, largest samples: "
            f"{_text(mean_share(two, best, epsilon))} is kept; {', '.join(compared)}."
        )


def _compared(difference: Difference) -> str:
    _, low, high = difference
    return "better" if low > 0 else "worse" if high < 0 else "not told apart"


def _judged(table: TableGains, epsilon: float) -> list[int]:
    """Sizes with a demand of their own; a smaller table's largest sample stands for the first."""
    sizes = [size for size in table.sizes if size >= DEMANDS[epsilon][0][0]]
    return sizes or [table.sizes[-1]]


def _demanded(table: TableGains, epsilon: float, tables: Sequence[TableGains]) -> Iterator[list[str]]:
    best = best_method(tables, epsilon)
    from_ = table.met_from(best, epsilon), table.met_from(best, epsilon, by_estimate=True)
    for size in _judged(table, epsilon):
        share, wanted = table.share(best, epsilon, size), demand(epsilon, size)
        verdict = WORDS[share.verdict(wanted)]
        cells = [f"{epsilon:g}", table.table, str(table.classes), str(table.features), f"{size:,}", f"{wanted:.0%}"]
        yield [*cells, _share(share), verdict, _from(table, *from_) if size == table.sizes[-1] else ""]


def _from(table: TableGains, certain: int | None, estimated: int | None) -> str:
    if certain is not None:
        return f"{certain:,}"
    by_estimate = f"; by the estimate alone from {estimated:,}" if estimated is not None else ""
    return f"not met up to {table.sizes[-1]:,}{by_estimate}"


def _means(tables: Sequence[TableGains], method: str) -> list[str]:
    return [_text(mean_share(tables, method, epsilon, size)) for epsilon in DEMANDS for size in (COMMON, None)]


def _differences(tables: Sequence[TableGains], epsilon: float) -> Iterator[list[str]]:
    best = best_method(tables, epsilon)
    pairs = [(best, other) for other in _methods(tables) if other != best]
    for one, other in dict.fromkeys([*pairs, CORRECTION]):
        found = [mean_difference(tables, one, other, epsilon, size) for size in (COMMON, None)]
        yield [f"{epsilon:g}", one, other, *map(_points, found)]


def _facts(table: TableGains, parts: Sequence[Mapping[str, Any]]) -> list[str]:
    part = next(part for part in parts if part["table"] == table.table)
    return [table.table, f"{part['records']:,}", f"{part['tested']:,}"]


def _references(table: TableGains, repeats: Mapping[str, int]) -> list[str]:
    size = table.sizes[-1]
    gain = float(np.mean(table.gains[NON_PRIVATE, None, size]))
    return [str(repeats[table.table]), f"{gain:.3f} at {size:,}", _share(table.share(WITHOUT_NOISE, None, size))]


def _share(share: KeptShare) -> str:
    return "no gain" if np.isnan(share.estimate) else _text((share.estimate, share.low, share.high))


def _text(values: Difference) -> str:
    mean, low, high = values
    return f"{mean:.0%} ({low:.0%} to {high:.0%})"


def _points(values: Difference) -> str:
    mean, low, high = values
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"


def _span(values: Any) -> str:
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"
