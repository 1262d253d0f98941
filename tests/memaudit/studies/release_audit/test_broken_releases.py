"""Each broken release breaks what its name says, and nothing else."""

import numpy as np

from memaudit.privacy.gnmax import Confident
from memaudit.privacy.tabpate_release import Plan
from memaudit.privacy.teacher_shards import Private
from memaudit.studies.release_audit.broken_releases import FreeChecks, TwoShards, facts_of, halved, quartered, tenth
from memaudit.studies.release_audit.neighbour_tables import FACTS, base_rows, read


def test_noise_has_a_part_of_its_sigma():
    zeros = np.zeros(20_000, np.int64)
    assert abs(np.std(halved(zeros, 40.0)) - 20) < 0.6
    assert abs(np.std(quartered(zeros, 40.0)) - 10) < 0.3
    assert abs(np.std(tenth(zeros, 40.0)) - 4) < 0.2


def test_each_record_is_in_two_shards():
    table = read(base_rows(6, 6))
    parts = table.x, table.y, table.units, b"key", table.public
    once, twice = (kind(*parts).teacher_contexts(4) for kind in (Private, TwoShards))
    assert sum(len(x) for x, _ in twice) == 2 * sum(len(x) for x, _ in once) == 24
    assert len(twice[0][0]) == len(once[0][0]) + len(once[3][0])


def test_checks_cost_nothing_and_labels_what_they_did():
    charged, free = (kind(15.5, 20.0, 60.0) for kind in (Confident, FreeChecks))
    assert charged.check_cost > free.check_cost == 0
    assert charged.label_cost == free.label_cost
    bounds = [Plan((), votes, 0.1).most_queries(read(base_rows(6, 6)).public) for votes in (charged, free)]
    assert bounds[0] < bounds[1] == np.inf, "a release that charges no check may process every query"


def test_bounds_and_categories_are_those_of_the_records():
    assert facts_of(base_rows(8, 8), FACTS)["columns"] == {"mark": [-0.5, 0.5], "kind": ["a", "b"]}
    assert facts_of(base_rows(8, 8), FACTS)["target"] == FACTS["target"]
