"""Which attacks an audit has run, and why it has not run the others: from the registry and the user's options."""

from collections.abc import Collection

from memaudit.attacks.registry import CLASSES, ONE_QUERY, PROBABILITIES, REGISTRY, Entry
from memaudit.auditing import audit_strength
from memaudit.auditing.protection_parts import AttackStatus
from memaudit.auditing.summary import Summary

CONTROLS = ("placebo", "companions")
STUDIED = "is measured by this project's attack study, not by an audit"
ATTRIBUTE, LINKING = (
    "Attribute inference (the value of a hidden column)",
    "Linking two halves of a record by the answers",
)
# Attacks that the registry does not hold, with the reason why an audit has none.
ELSEWHERE = {
    "Linking rows of one person by the answers": "is not implemented: rows of a person are in a context together, and "
    "a test would need answers of contexts that hold some of them",
    "Data-set inference (whether a whole collection is in the context)": STUDIED,
    "Property inference (shares of a group in the context)": STUDIED,
    "Model inversion, reconstruction of records": "is not implemented",
    "Attacks on gradients or trained weights": "are not implemented; --finetune probes tuned models by their answers",
    "Theft of the model's file, cache or logs": "is not an attack on answers: a fitted in-context model holds the rows "
    "themselves",
}


def inventory(summary: Summary, threats: Collection[str]) -> list[AttackStatus]:
    """Every attack with its status, those that were run first; threats: of the user."""
    run = {one.attack for one in summary.adversaries if one.records not in CONTROLS}
    found = [_of_entry(name, entry, name in run, summary, threats) for name, entry in REGISTRY.items()]
    found.append(_fine_tuning(summary))
    found += _inference(summary)
    found += [AttackStatus(attack=name, status="left out", reason=reason) for name, reason in ELSEWHERE.items()]
    return sorted(found, key=lambda one: one.status != "run")


def _of_entry(name: str, entry: Entry, run: bool, summary: Summary, threats: Collection[str]) -> AttackStatus:
    attack = f"{entry.label.replace('{k:g} ', '')} ({entry.adversary})"
    if run:
        return AttackStatus(attack=attack, status="run", reason="")
    status, reason = _hindrance(entry, summary, threats)
    return AttackStatus(attack=attack, status=status, reason=reason)


def _hindrance(entry: Entry, summary: Summary, threats: Collection[str]) -> tuple[str, str]:
    """Status of an attack that was not run, and the reason."""
    if summary.table.kind not in entry.tasks:
        needs, has = ("classes", "numbers") if entry.tasks == CLASSES else ("numbers", "classes")
        return "not possible", f"needs a model that predicts {needs}; this one predicts {has}"
    if forbidden := _forbidden(entry, summary, threats):
        return "not permitted", forbidden
    if "leave" in entry.options:
        return "left out", "scores members too low; the form that leaves out pairs of contexts is run instead"
    if summary.stage == "quick" and entry.action != ONE_QUERY:
        return "left out", "for time: this page holds the first numbers alone"
    if entry.action != ONE_QUERY and "attention" not in entry.action:
        return "left out", "too few contexts and records to tell an AUC of 0.6 with a probability of 0.9"
    return "left out", "is not part of this audit"


def _forbidden(entry: Entry, summary: Summary, threats: Collection[str]) -> str:
    """Which option of the user excludes an attack; empty if none does."""
    if entry.active and "poison" not in threats:
        return "--threats poison was not given: the adversary adds no rows to the context"
    if entry.reads == PROBABILITIES and audit_strength.reads_labels(summary):
        return "--threats labels: the adversary reads no probabilities"
    if not entry.active and entry.action != ONE_QUERY and "labels" not in threats:
        return "--threats labels was not given"
    return ""


def _fine_tuning(summary: Summary) -> AttackStatus:
    """The probe of fine-tuned models for memorization."""
    attack = "Memorization by fine-tuning (contexts without information)"
    if summary.tuned:
        return AttackStatus(attack=attack, status="run", reason="")
    if summary.predicts_numbers():
        return AttackStatus(attack=attack, status="not possible", reason="needs a model that predicts classes")
    return AttackStatus(
        attack=attack, status="left out", reason="--finetune was not given, or its stage is not finished"
    )


def _inference(summary: Summary) -> list[AttackStatus]:
    """Attribute inference of columns, and linking of halves of records."""
    columns = [one.column is not None for one in summary.inference.questions] if summary.inference else []
    kinds = {ATTRIBUTE: (True in columns, "--infer"), LINKING: (False in columns, "--threats linkability")}
    untold = "was not given, or its stage is not finished"
    return [
        AttackStatus(attack=name, **({"status": "run", "reason": ""} if done else _left_out(f"{option} {untold}")))
        for name, (done, option) in kinds.items()
    ]


def _left_out(reason: str) -> dict[str, str]:
    return {"status": "left out", "reason": reason}
