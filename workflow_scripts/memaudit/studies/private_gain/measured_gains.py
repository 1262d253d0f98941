"""Balanced accuracy of private contexts and of baselines on nested samples of a public table: one repeat at a time.

Every method is measured with two decision rules: the class with the largest probability, and the same after each
probability is divided by the share of its class ("by share"), which is the rule for balanced accuracy. A released
context shows its own class shares, so that anybody may use the second rule with it, and it costs nothing. Baselines
release no shares: they get the exact ones as a gift, which favours them.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common import seeds
from memaudit.common.arrays import Array, Indices
from memaudit.common.project_paths import PROJECT
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import CONTEXTS, released
from memaudit.privacy.teacher_shards import Context, Predict, Private
from memaudit.privacy.teacher_votes import class_answers
from memaudit.statistics.private_gains import NON_PRIVATE, RULES, WITHOUT_NOISE
from memaudit.studies.private_gain.gain_tables import LARGEST, REPEATS, GainTable, gain_table

EPSILONS, DELTA = (1.0, 10.0), 1e-5
LEARNED = {"prior": "moments", "by_class": True, "narrowed": True, "queries": 1000, "alpha": 0.6, "labels": "learned"}
EQUAL = {"equal_classes": True}
# Method, its settings as in docs/release.md, and the entry of config/tabpate_settings.json that changes them.
METHODS: Mapping[str, tuple[str, Mapping[str, Any], str | None]] = {
    "learned, equal classes": ("tabpate", LEARNED | EQUAL, None),
    "class_moments": ("class-moments", {}, "class_moments"),
    "class_moments, equal classes": ("class-moments", EQUAL, "class_moments"),
    "as_published": ("tabpate", {"accounting": "as_published"}, "as_published"),
    "dp_linear": ("dp-linear", {}, "dp_linear"),
    "dp_sgd": ("dp-sgd", {}, "dp_sgd"),
}
CONTROLLED = "learned, equal classes"
PARTS = [f"{name} {repeat}" for repeat in range(REPEATS) for name in LARGEST]


def measure(part: str, folder: str) -> dict[str, Any]:
    """Scores of all methods in one repeat of a table, with its CPU seconds; part: of `PARTS`.

    folder: of the tables. cells: n, epsilon, method, and (balanced accuracy by rule, accuracy of the first rule).
    """
    started = time.process_time()
    name, repeat = part.rsplit(" ", 1)
    table = gain_table(name, folder)
    cells = list(_cells(table, int(repeat), tuned()))
    facts = {
        "table": name,
        "repeat": int(repeat),
        "records": len(table.y),
        "classes": len(table.public.target.values),
        "features": len(table.public.columns),
        "tested": len(table.split(0)[0]),
        "settings": tuned(),
    }
    return facts | {"cells": cells, "cpu_seconds": round(time.process_time() - started, 1)}


def is_current(known: Mapping[str, Any]) -> bool:
    """Whether a part was measured with today's settings."""
    return known["settings"] == tuned()


def tuned() -> dict[str, dict[str, Any]]:
    """Settings of each method by epsilon; those without an entry of tuned settings are the method's own defaults."""
    path = PROJECT / "config/tabpate_settings.json"
    arms = json.loads(path.read_text(encoding="utf-8"))["arms"]
    found: dict[str, dict[str, Any]] = {}
    for name, (_, settings, arm) in METHODS.items():
        chosen = arms[arm]["classification"] if arm in arms else {}
        of_epsilon = {f"{epsilon:g}": chosen.get(f"{epsilon:g}", {"settings": {}})["settings"] for epsilon in EPSILONS}
        found[name] = {epsilon: {**settings, **one} for epsilon, one in of_epsilon.items()}
    return found


def _cells(table: GainTable, repeat: int, settings: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    student = Student.of(table, repeat)
    for size in table.sizes:
        private = table.private(student.drawn[:size])
        facts = {"n": size, "method": NON_PRIVATE, "epsilon": None}
        yield facts | student.judged(student.logits((private.x, private.y)), private.y)
        for epsilon in EPSILONS:
            for name, (method, *_) in METHODS.items():
                entry = {"method": method, "settings": settings[name][f"{epsilon:g}"]}
                facts = {"n": size, "method": name, "epsilon": epsilon}
                yield facts | student.scores(entry, private, epsilon, name)
    # What the method could keep if it cost no privacy: of the largest sample alone, which takes longest.
    entry = {"method": METHODS[CONTROLLED][0], "settings": settings[CONTROLLED][f"{EPSILONS[-1]:g}"]}
    facts = {"n": len(private.y), "method": WITHOUT_NOISE, "epsilon": None}
    yield facts | student.scores(entry, private, EPSILONS[-1], CONTROLLED, noise=lambda center, _: center)


@dataclass(frozen=True)
class Student:
    """The test records of a repeat of a table, and the model that answers them; drawn: positions of private records."""

    table: GainTable
    repeat: int
    tested: Indices
    drawn: Indices
    predict: Predict

    @classmethod
    def of(cls, table: GainTable, repeat: int) -> "Student":
        """The student of the shipped model."""
        model = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
        return cls(table, repeat, *table.split(repeat), predictor(model, len(table.public.target.values)))

    def scores(
        self, entry: Mapping[str, Any], private: Private, epsilon: float, name: str, noise: Noise = discrete_gaussian
    ) -> dict[str, Any]:
        """Scores of a method; entry: method and settings; noise: of contexts from moments, for the control alone."""
        budget, seed = Budget(epsilon, DELTA), seeds.integer(0, "private gain", name, self.repeat)
        if entry["method"] not in CONTEXTS:
            queries = self.table.x[self.tested]
            return self.judged(answered(entry, private, budget, queries, self.predict, seed), private.y)
        context = released(entry, private, budget, self.predict, np.random.default_rng(seed), noise)
        return self.judged(self.logits((context.x, context.y)), context.y)

    def logits(self, context: Context) -> Array:
        """Answers of the model with a context to the test records (test, class)."""
        return class_answers(context, self.table.x[self.tested], len(self.table.public.target.values), self.predict)

    def judged(self, logits: Array, known: Indices) -> dict[str, Any]:
        """Balanced accuracy by rule, and accuracy of the first; known: (record,) labels whose class shares are used."""
        truth, classes = self.table.y[self.tested], len(self.table.public.target.values)
        shares = np.maximum(np.bincount(known, minlength=classes), 0.5) / max(1, len(known))
        answers = dict(zip(RULES, (logits.argmax(1), (logits - np.log(shares)).argmax(1)), strict=True))
        found = {rule: round(balanced_accuracy(answer, truth), 4) for rule, answer in answers.items()}
        return found | {"accuracy": round(float((answers[RULES[0]] == truth).mean()), 4)}


def balanced_accuracy(answers: Indices, truth: Indices) -> float:
    """Mean over the classes among the tested records of the share answered correctly."""
    return float(np.mean([(answers[truth == label] == label).mean() for label in np.unique(truth)]))
