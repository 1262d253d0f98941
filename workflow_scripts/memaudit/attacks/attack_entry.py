"""What an attack is: its entry in the registry, its form on data, and the words for adversaries.

Modules that only handle attacks import this file: an edit of `registry` reruns every rule that imports it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memaudit.common.arrays import Array

LABELS, PROBABILITIES = "label-only", "probabilities"
WHITE_BOX = "white-box"  # probabilities, and how the query attends to the rows of the context
PER_CLASS = " per class"
CLASSES, NUMBERS = ("classification",), ("regression",)
BOTH = CLASSES + NUMBERS
ONE_QUERY = "one query"  # the action of an adversary who queries the record alone
READ = {LABELS: "labels", PROBABILITIES: PROBABILITIES, WHITE_BOX: f"{PROBABILITIES} and attention"}


@dataclass(frozen=True)
class Entry:
    """An attack on a score matrix.

    label: for readers; signal: what it calibrates, one number of each (model, record) entry; reads: labels,
    probabilities or WHITE_BOX; active: whether the adversary adds records to the context; action: what the adversary
    does, for readers; method: a name of `calibrate.METHODS` or a function like them; options: of the method; tasks: of
    the models that it attacks (of regressors the signal is the log density of the true number); colour: in figures of
    threat models (`plotting.figure_style`).
    """

    label: str
    signal: str
    method: Any = "lira"
    options: Mapping[str, Any] = field(default_factory=dict)
    tasks: Collection[str] = BOTH
    reads: str = PROBABILITIES
    active: bool = False
    action: str = ONE_QUERY
    colour: str = "GREY"

    @property
    def threat(self) -> str:
        """Threat model: what the adversary reads, and whether the context is changed."""
        return f"{self.reads} {'active' if self.active else 'passive'}"

    @property
    def adversary(self) -> str:
        """What the adversary observes and does, for readers."""
        return f"reads {READ[self.reads]}, {self.action}"


class Attack(NamedTuple):
    """An attack with its data: signals (model, record), the method that calibrates them, and its options.

    method: a name of `calibrate.METHODS` or a function like theirs, (signals, membership matrix, **options) -> scores
    (model, record), higher = more likely a member.
    """

    signals: Array
    method: Any
    options: Mapping[str, Any] = {}
