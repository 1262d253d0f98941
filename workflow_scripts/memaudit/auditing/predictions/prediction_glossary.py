"""The terms of the page of an audit of files of predictions, where members are in a model's data."""

from collections.abc import Mapping

from memaudit.auditing.page import glossary

KEPT = (
    *("threshold", "fpr", "tpr", "precision", "base-rate", "roc", "interval", "detected", "rmia", "unit", "max-t"),
    *("power", "singling-out", "epsilon"),
)
OWN: Mapping[str, tuple[str, str]] = {
    "member": (
        "Member, non-member",
        "A member is a record that is in the model's data: it was trained on it, or has it in its context. A "
        "non-member is one that is not.",
    ),
    "accusation": (
        "Accusation",
        "A positive prediction of the attack: this record is said to be in the model's data.",
    ),
    "auc": (
        "AUC",
        "How often a member gets a higher score than a non-member: 0.5 is guessing, 1 is certainty. The area under the "
        "ROC curve.",
    ),
    "chance": (
        "Chance",
        "What the same attack finds where the memberships of both files are permuted at random.",
    ),
    "p-value": (
        "Permutation test, p-value",
        "The test permutes the memberships of the records many times and repeats the whole attack; p is the share of "
        "permutations that give as large a value.",
    ),
    "shift": (
        "Shift",
        "A difference between the two files that has nothing to do with the model, such as another year or source.",
    ),
    "memory": (
        "Memory",
        "What the model's answers tell about a record because the record is in its data.",
    ),
    "control": (
        "Control",
        "An attack that cannot see memory, since it does not read the model's predictions, or reads those of a model "
        "that has not seen the records. What it finds is shift.",
    ),
    "linkability": (
        "Linkability",
        "To find out which records belong to the same person (WP216).",
    ),
    "inference": (
        "Inference (of attributes)",
        "To deduce a hidden value of a record from its other values (WP216).",
    ),
}
TERMS = {key: glossary.TERMS[key] for key in KEPT} | OWN
