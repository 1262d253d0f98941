"""Groups of records in an audit's summary, looked up in tidy results; no number is computed here."""

from collections.abc import Mapping

import pandas as pd

from memaudit.auditing.summaries.group_parts import Group, LeftOut, Subgroup, Subpopulation
from memaudit.auditing.summaries.summarize_results import value
from memaudit.common import tidy

LEFT_OUT = "records left out"


def groups(
    results: pd.DataFrame, called: Mapping[str, str], names: Mapping[str, Mapping[str, str]] | None
) -> list[Group]:
    """Results of the groups, the largest leakage first.

    called: the user's names of columns, by safe name; names: of groups, by column and number, None to hide them.
    """
    table = tidy.expand(results)
    table = table[table["column"].notna()] if "column" in table else table.iloc[:0].assign(column="", group=0)
    table = table[table["metric"] != LEFT_OUT]
    parts = [
        Group(
            column=called[column],
            number=int(number),
            name=names[column][str(int(number))] if names else None,
            records=int(value(rows, "records").estimate),
            auc=value(rows, "auc"),
            q_value=value(rows, "auc q-value").estimate,
            excess=value(rows, "auc excess"),
        )
        for (column, number), rows in table.groupby(["column", "group"], sort=False)
    ]
    return sorted(parts, key=lambda group: -group.auc.estimate)


def small_groups(
    results: pd.DataFrame, called: Mapping[str, str], names: Mapping[str, Mapping[str, str]] | None
) -> list[LeftOut]:
    """Groups that were left out, by column; called, names: as for `groups`."""
    table = tidy.expand(results)
    found = []
    for _, row in table[table["metric"] == LEFT_OUT].iterrows():
        number = None if pd.isna(row.get("group")) else int(row["group"])
        name = names[row["column"]][str(number)] if names and number else None
        records = int(row["estimate"])
        found.append(LeftOut(column=called[row["column"]], number=number, name=name, records=records))
    return found


def subpopulation(
    results: pd.DataFrame, called: Mapping[str, str], names: Mapping[str, Mapping[str, str]] | None
) -> Subpopulation | None:
    """The subpopulation that the search found, None without one; called, names: as for `groups`."""
    table = tidy.expand(results)
    rows = table[table["search"].notna()] if "search" in table else table.iloc[:0]
    if rows.empty:
        return None
    first, counts = rows.iloc[0], rows.set_index("metric")["estimate"]
    described = [(first.get(f"column {place}"), first.get(f"group {place}")) for place in (1, 2)]
    return Subpopulation(
        groups=[
            Subgroup(column=called[column], number=int(number), name=names[column][str(int(number))] if names else None)
            for column, number in described
            if not pd.isna(column)
        ],
        records=int(counts["records"]),
        confirmed=int(counts["records that confirm"]),
        searched=int(counts["subpopulations searched"]),
        auc=value(rows, "auc"),
        excess=value(rows, "auc excess"),
    )
