"""Labels that a budget buys with the votes of PATE teachers on public tables: the shipped model and disjoint shards."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from memaudit.privacy.teacher_votes import votes
from memaudit.studies.mechanism_costs.label_counts import SETTINGS, labels
from memaudit.studies.private_gain.gain_tables import gain_table
from memaudit.studies.private_gain.measured_gains import Student

TABLES = ("adult", "phoneme", "credit-g", "digits")
QUERIES = 200  # test records of the first repeat, whose votes are counted
LEAST = 20  # records of a teacher in the mean; smaller shards are left out


def rows(name: str, folder: str) -> Iterator[dict[str, Any]]:
    """Rows of a table: teachers, epsilon, share of queries with a plurality of 90 %, and labels of each way.

    folder: of the tables. The private records are the largest sample of docs/private-gain.md, the noise is as tuned.
    """
    table = gain_table(name, folder)
    student, classes = Student.of(table, 0), len(table.public.target.values)
    private, queries = table.private(student.drawn), table.x[student.tested[:QUERIES]]
    for teachers, settings in SETTINGS.items():
        if len(private.y) < LEAST * teachers:
            continue
        counts = votes(private.teacher_contexts(teachers), queries, classes, student.predict)
        agreed = float(np.mean(counts.max(axis=1) >= 0.9 * teachers))
        for epsilon, found in labels(counts, settings).items():
            facts = {"table": name, "records": len(private.y), "classes": classes, "teachers": teachers}
            yield facts | {"agreed": agreed, "epsilon": epsilon, **found}
