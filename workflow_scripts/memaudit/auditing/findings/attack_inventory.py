"""Which attacks an audit has run, and why it has not run the others: from registry, model and the user's options."""

from collections.abc import Collection
from typing import NamedTuple

from memaudit.attacks.attack_entry import CLASSES, ONE_QUERY, PROBABILITIES, WHITE_BOX, Entry
from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.findings import audit_strength
from memaudit.auditing.reading.checkpoint_families import ATTENTION_CLASSES, FAMILIES
from memaudit.auditing.summaries.protection_parts import AttackStatus
from memaudit.auditing.summaries.summary import CONTROLS, Summary

STUDIED = "is measured by this project's attack study, not by an audit"
FIRST = "for time: this page holds the first numbers alone"
UNFINISHED = "has no results: the stage that runs it is not finished"
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
    "Attacks on gradients or trained weights": "are not implemented; the setting finetune probes tuned models by "
    "their answers",
    "Theft of the model's file, cache or logs": "is not an attack on answers: a fitted in-context model holds the rows "
    "themselves, and that of another kind may",
}


class Audited(NamedTuple):
    """What an audit attacks: the family of its model and the number of the target's classes.

    threats: of the user; infers: whether columns are to be inferred.
    """

    threats: Collection[str]
    family: str
    classes: int
    infers: bool

    @property
    def blind(self) -> str:
        """Why attention cannot be read; empty where it can."""
        if self.family not in FAMILIES:
            return f"needs attention on the context, as of TabICL and TabPFN; this model is of the family {self.family}"
        if self.classes > ATTENTION_CLASSES:
            return f"needs at most {ATTENTION_CLASSES} classes, the target has {self.classes}"
        return ""


def inventory(summary: Summary, audited: Audited) -> list[AttackStatus]:
    """Every attack with its status, those that were run first."""
    run = {one.attack for one in summary.adversaries if one.records not in CONTROLS}
    found = [_of_entry(entry, name in run, summary, audited) for name, entry in REGISTRY.items()]
    found.append(_fine_tuning(summary))
    found += _inference(summary, audited)
    found += [AttackStatus(attack=name, status="left out", reason=reason) for name, reason in ELSEWHERE.items()]
    return sorted(found, key=lambda one: one.status != "run")


def _of_entry(entry: Entry, run: bool, summary: Summary, audited: Audited) -> AttackStatus:
    attack = f"{entry.label.replace('{k:g} ', '')} ({entry.adversary})"
    if run:
        return AttackStatus(attack=attack, status="run", reason="")
    status, reason = _hindrance(entry, summary, audited)
    return AttackStatus(attack=attack, status=status, reason=reason)


def _hindrance(entry: Entry, summary: Summary, audited: Audited) -> tuple[str, str]:
    """Status of an attack that was not run, and the reason."""
    if impossible := _impossible(entry, summary, audited):
        return "not possible", impossible
    if forbidden := _forbidden(entry, summary, audited.threats):
        return "not permitted", forbidden
    if "leave" in entry.options:
        return "left out", "scores members too low; the form that leaves out pairs of contexts is run instead"
    later = entry.action != ONE_QUERY or entry.reads == WHITE_BOX
    if summary.stage == "quick" and later:
        return "left out", FIRST
    if entry.action != ONE_QUERY:
        return "left out", "too few contexts and records to tell an AUC of 0.6 with a probability of 0.9"
    return "left out", UNFINISHED


def _impossible(entry: Entry, summary: Summary, audited: Audited) -> str:
    """Why the model cannot be attacked so; empty where it can."""
    if summary.table.kind not in entry.tasks:
        needs, has = ("classes", "numbers") if entry.tasks == CLASSES else ("numbers", "classes")
        return f"needs a model that predicts {needs}; this one predicts {has}"
    return audited.blind if entry.reads == WHITE_BOX else ""


def _forbidden(entry: Entry, summary: Summary, threats: Collection[str]) -> str:
    """Which option of the user excludes an attack; empty if none does."""
    if entry.active and "poison" not in threats:
        return "the threat poison was not chosen: the adversary adds no rows to the context"
    if entry.reads == PROBABILITIES and audit_strength.reads_labels(summary):
        return "the threat is labels alone: the adversary reads no probabilities"
    if entry.reads == WHITE_BOX and WHITE_BOX not in threats:
        return "the threat white-box was not chosen: the adversary does not see inside the model"
    if not entry.active and entry.action != ONE_QUERY and "labels" not in threats:
        return "the threat labels was not chosen"
    return ""


def _fine_tuning(summary: Summary) -> AttackStatus:
    """The probe of fine-tuned models for memorization."""
    attack = "Memorization by fine-tuning (contexts without information)"
    if summary.tuned:
        return AttackStatus(attack=attack, status="run", reason="")
    if summary.predicts_numbers():
        return AttackStatus(attack=attack, status="not possible", reason="needs a model that predicts classes")
    reason = FIRST if summary.stage == "quick" else "the setting finetune was not chosen"
    return AttackStatus(attack=attack, status="left out", reason=reason)


def _inference(summary: Summary, audited: Audited) -> list[AttackStatus]:
    """Attribute inference of columns, and linking of halves of records."""
    columns = [one.column is not None for one in summary.inference.questions] if summary.inference else []
    kinds = {
        ATTRIBUTE: (True in columns, "no column was named to be inferred (setting infer)", audited.infers),
        LINKING: (False in columns, "the threat linkability was not chosen", "linkability" in audited.threats),
    }
    later = FIRST if summary.stage == "quick" else UNFINISHED
    return [
        AttackStatus(attack=name, status="run", reason="")
        if done
        else AttackStatus(attack=name, status="left out", reason=later if given else unchosen)
        for name, (done, unchosen, given) in kinds.items()
    ]
