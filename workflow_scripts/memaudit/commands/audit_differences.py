"""What differs between two finished audits, in lines, and whether their numbers can be compared at all."""

from collections.abc import Mapping
from typing import Any

from memaudit.auditing.running.finished_audit import FinishedAudit
from memaudit.auditing.summaries.summary import Value
from memaudit.statistics.independent_differences import difference

SAME = "comparable: the same table, target, task, model and adversaries, as far as the folders tell"
OF_FACTS = ("the target", "the privacy unit")
MOST_ROWS, MOST_STEPS = 20, 4


def obstacles(old: FinishedAudit, new: FinishedAudit) -> list[str]:
    """Why the numbers of two audits cannot be compared; empty where they can."""
    pairs = {
        "the table (its hash)": (old.summary.table.sha256[:12], new.summary.table.sha256[:12]),
        "the target": (old.facts.get("target"), new.facts.get("target")),
        "the task": (old.summary.table.kind, new.summary.table.kind),
        "the privacy unit": (old.facts.get("group"), new.facts.get("group")),
        "the model": (old.summary.models["main"], new.summary.models["main"]),
        "what the adversaries can use": (old.threats, new.threats) if old.config and new.config else (None, None),
    }
    if not old.facts or not new.facts:
        pairs = {name: pair for name, pair in pairs.items() if name not in OF_FACTS}
    return [f"{name} differs: {_shown(a)} and {_shown(b)}" for name, (a, b) in pairs.items() if a != b]


def lines(old: FinishedAudit, new: FinishedAudit) -> list[str]:
    """All differences in words; without differences of numbers where these cannot be compared."""
    against = obstacles(old, new)
    same = not against
    found = [f"not comparable: {one}" for one in against] or [SAME]
    found += [_code(old, new), *_settings(old, new)]
    found += _metrics(old, new, same)
    if same:
        found += _records(old, new)
    found += _mitigations(old, new)
    return found


def _code(old: FinishedAudit, new: FinishedAudit) -> str:
    """Whether the same code made both audits, by its digest that the provenance of each step records."""
    before, after = old.codes(), new.codes()
    both = [rule for rule in before if rule in after]
    if not both:
        return "code: not compared, since the provenance of one audit is gone"
    versions = f"commit {old.version or 'not known'}"
    if old.version != new.version:
        versions += f" -> {new.version or 'not known'}"
    if other := [rule for rule in both if before[rule] != after[rule]]:
        named = ", ".join(other[:MOST_STEPS]) + (
            f" and {len(other) - MOST_STEPS} more" if len(other) > MOST_STEPS else ""
        )
        return f"code: differs in {len(other)} of {len(both)} steps ({named}); {versions}"
    return f"code: the same in all {len(both)} steps that both have; {versions}"


def _settings(old: FinishedAudit, new: FinishedAudit) -> list[str]:
    if not old.config or not new.config:
        return ["settings: not compared, since the config of one audit is gone"]
    first, second = ({"stage": one.summary.stage, **one.settings()} for one in (old, new))
    changed = [
        f"  {key}: {_shown(first.get(key))} -> {_shown(second.get(key))}"
        for key in [*first, *(key for key in second if key not in first)]
        if first.get(key) != second.get(key)
    ]
    return ["settings that differ:", *changed] if changed else ["settings: the same"]


def _shown(one: Any) -> str:
    return "not set" if one is None else repr(one)


def _metrics(old: FinishedAudit, new: FinishedAudit, same: bool) -> list[str]:
    """The headline's numbers side by side; same: whether their difference means something."""
    (one, other) = (audit.summary.headline for audit in (old, new))
    verdict = " -> ".join("a leak is detected" if main.auc.detected else "no leak is detected" for main in (one, other))
    found = [f"headline: {verdict}"]
    independent = old.seed is not None and new.seed is not None and old.seed != new.seed
    if same and independent:
        found.append(
            "  other seeds draw other contexts, so differences have 95 % intervals, wider than need be since the "
            "records are shared"
        )
    elif same:
        found.append(
            "  the seeds are the same or not known, so the audits are not independent: differences have no interval"
        )
    pairs = [("AUC", one.auc, other.auc)]
    pairs += [(f"TPR at FPR {rate}", value, other.tpr[rate]) for rate, value in one.tpr.items() if rate in other.tpr]
    pairs += [
        (f"precision at base rate {rate}", value, other.precision[rate])
        for rate, value in one.precision.items()
        if rate in other.precision
    ]
    return found + [_side_by_side(name, a, b, same, independent) for name, a, b in pairs]


def _side_by_side(name: str, old: Value, new: Value, same: bool, independent: bool) -> str:
    line = f"  {name}: {_value(old)} -> {_value(new)}"
    if not same or old.estimate is None or new.estimate is None:
        return line
    ends = (old.low, old.high, new.low, new.high)
    if not independent or None in ends:
        return f"{line}; difference {new.estimate - old.estimate:+.3f}"
    gap, low, high = difference((old.estimate, old.low, old.high), (new.estimate, new.low, new.high))
    return f"{line}; difference {gap:+.3f} [{low:+.3f}, {high:+.3f}]"


def _value(one: Value) -> str:
    if one.estimate is None:
        return "none"
    ends = "" if one.low is None or one.high is None else f" [{one.low:.3f}, {one.high:.3f}]"
    return f"{one.estimate:.3f}{ends}"


def _records(old: FinishedAudit, new: FinishedAudit) -> list[str]:
    """Records that entered or left the list of the most vulnerable ones."""
    first, second = ({one.row for one in audit.summary.exposed} for audit in (old, new))
    return [
        f"list of the most vulnerable records: {len(first & second)} stay; entered: {_rows(second - first)}; left: "
        f"{_rows(first - second)}",
        f"records whose presence shows: {old.summary.showing} of {old.summary.rated} -> {new.summary.showing} of "
        f"{new.summary.rated}",
    ]


def _rows(rows: set[int]) -> str:
    if not rows:
        return "none"
    more = f" and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return f"row {', '.join(map(str, sorted(rows)[:MOST_ROWS]))}{more}"


def _mitigations(old: FinishedAudit, new: FinishedAudit) -> list[str]:
    first, second = ({(one.name, one.attack): one for one in audit.summary.mitigations} for audit in (old, new))
    changed = [_mitigation(key, first, second) for key in dict.fromkeys([*first, *second])]
    return ["mitigations:", *changed] if changed else []


def _mitigation(key: tuple[str, str], first: Mapping[Any, Any], second: Mapping[Any, Any]) -> str:
    def told(known: Mapping[Any, Any]) -> str:
        if key not in known:
            return "not tested"
        change = known[key].auc_difference
        auc = f"change of AUC {_value(change)}" if change else "not tested"
        return f"{auc}{', advised' if known[key].advised else ''}"

    return f"  {key[0]} ({key[1]}): {told(first)} -> {told(second)}"
