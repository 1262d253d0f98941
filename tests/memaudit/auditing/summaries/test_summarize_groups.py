"""Groups of an audit's tidy results, with and without their names."""

from memaudit.auditing.summaries import summarize_groups
from memaudit.common import tidy


def test_groups_are_sorted_by_leakage_and_named_only_if_names_are_given():
    metrics = ["records", "auc", "auc q-value", "auc excess"]
    rows = [
        tidy.row("audit", {"column": "c0", "group": group}, metric, value)
        for group, values in {1: (40, 0.6, 0.5, 0.0), 2: (20, 0.8, 0.01, 0.2)}.items()
        for metric, value in zip(metrics, values, strict=True)
    ]
    table = tidy.frame(rows)
    hidden = summarize_groups.groups(table, {"c0": "city"}, None)
    assert [(group.column, group.number, group.name, group.records) for group in hidden] == [
        ("city", 2, None, 20),
        ("city", 1, None, 40),
    ]
    named = summarize_groups.groups(table, {"c0": "city"}, {"c0": {"1": "a", "2": "b"}})
    assert [group.name for group in named] == ["b", "a"]


def found_by_search(**keys):
    keys = {"search": "worst"} | keys
    metrics = {"auc": 0.7, "auc excess": 0.1, "auc excess detected": 1.0, "records": 80}
    metrics |= {"records that confirm": 41, "subpopulations searched": 300}
    return [tidy.row("audit", keys, metric, estimate) for metric, estimate in metrics.items()]


def test_the_subpopulation_is_numbered_unless_values_may_be_shown():
    called, names = {"c0": "city", "c1": "age"}, {"c0": {"2": "Paris"}, "c1": {"1": "quarter 4"}}
    keys = {"column 1": "c0", "group 1": 2, "column 2": "c1", "group 2": 1}
    pair = tidy.frame([*found_by_search(**keys), tidy.row("audit", {"column": "c0", "group": 1}, "auc", 0.6)])
    for shown, expected in {None: [None, None], "names": ["Paris", "quarter 4"]}.items():
        found = summarize_groups.subpopulation(pair, called, names if shown else None)
        assert [(one.column, one.number) for one in found.groups] == [("city", 2), ("age", 1)]
        assert [one.name for one in found.groups] == expected
        assert (found.records, found.confirmed, found.searched, found.excess.detected) == (80, 41, 300, True)
    single = summarize_groups.subpopulation(
        tidy.frame(found_by_search(**{"column 1": "c0", "group 1": 2})), called, None
    )
    assert [one.column for one in single.groups] == ["city"]
    assert (
        summarize_groups.subpopulation(tidy.frame([tidy.row("audit", {"column": "c0"}, "auc", 0.6)]), called, None)
        is None
    )
    assert not summarize_groups.groups(tidy.frame(found_by_search(**{"column 1": "c0", "group 1": 2})), called, None)
