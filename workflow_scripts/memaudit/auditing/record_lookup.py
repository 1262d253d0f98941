"""One record's risk in a finished audit, or the reason why it was not rated."""

import math
from typing import Any

from memaudit.auditing.running import stages
from memaudit.auditing.running.finished_audit import FinishedAudit
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table


def risk_of(audit: FinishedAudit, row: int) -> dict[str, Any] | None:
    """The line of risk.parquet for a row of the table, None for one that was not rated.

    Raises AuditError for a row that the table does not have.
    """
    rows = audit.summary.table.rows
    if not 1 <= row <= rows:
        raise AuditError(f"row {row}: the table has the rows 1 to {rows} (the header is not counted)")
    found = audit.risk[audit.risk["row"] == row]
    return None if found.empty else found.iloc[0].to_dict()


def described(audit: FinishedAudit, line: dict[str, Any]) -> list[str]:
    """The risk of one record in words."""
    low, high = line["low"], line["high"]
    interval = f" [{low:.2f}, {high:.2f}]" if math.isfinite(low) and math.isfinite(high) else " (no interval)"
    shows = "its presence shows" if line["shows"] else "it is not shown that its presence changes the answers"
    rates = {name.removeprefix("posterior_"): one for name, one in line.items() if name.startswith("posterior_")}
    posteriors = [
        f"  if {100 * float(rate):g} of 100 candidates are in the data, the adversary's membership probability for it "
        f"is {one:.3f} on average when it is"
        for rate, one in rates.items()
    ]
    return [
        f"row {int(line['row'])}: rank {int(line['rank'])} of {len(audit.risk)} rated records (1: the most vulnerable)",
        f"  vulnerability score {line['vulnerability']:.2f}{interval}: {shows}",
        *posteriors,
    ]


def unrated(audit: FinishedAudit, row: int) -> str:
    """Why a row of the table was not rated, from the copies in the audit's folder as far as they are there."""
    folder = audit.folder / "results" / audit.summary.stage / "data" / stages.NAME
    located, split = folder / "rows.parquet", folder / "splits" / f"{stages.SIDE}.parquet"
    if not located.is_file() or not split.is_file():
        return (
            f"row {row} was not rated: it has no target, was not sampled, equals another row or was held out as a "
            "negative control; the audit's copies of the table are gone, so that it is not known which"
        )
    rows = read_table(located)
    ids = rows.loc[rows["row"] == row, "id"]
    if ids.empty:
        return f"row {row} was not rated: it has no target, or was not sampled (--rows)"
    first = int(rows.loc[rows["id"] == ids.iloc[0], "row"].min())
    if first != row:
        return f"row {row} was not rated itself: it equals row {first}, and equal rows count once; see that row"
    sides = read_table(split).set_index("id")["side"]
    side = sides.get(ids.iloc[0])
    if side is None:
        return (
            f"row {row} was not rated: its features stand in another row with another target, or it was not among the "
            "records that were sampled for the contexts"
        )
    if side == "members":
        return f"row {row} was not rated: no context of this stage held it"
    return f"row {row} was not rated: it was held out of all contexts, as negative control and to measure accuracy"
