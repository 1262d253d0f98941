"""Parts that a release may have: each has a control, its canary matters most, and large faults are found."""

import numpy as np
import pytest
from private_records import UNSEEDED

from memaudit.privacy.tabpate_release import TabPATE
from memaudit.studies.release_audit.audited_releases import AS_RELEASED
from memaudit.studies.release_audit.optional_parts import ROWS, marks_prediction, optional_conditions

CONDITIONS = optional_conditions()


def test_each_part_is_audited_and_has_a_control():
    parts = [one.part for one in CONDITIONS.values() if one.broken == AS_RELEASED]
    assert len(parts) == 4
    assert {one.part for one in CONDITIONS.values() if one.broken != AS_RELEASED} == set(parts)


@pytest.mark.parametrize("part", ["number target", "people with several rows", "paid bounds"])
def test_what_is_released_keeps_its_promise(part):
    promised, found = CONDITIONS[f"{part}: as released"].audited(200, UNSEEDED)
    assert promised == pytest.approx(0.268, abs=0.001)
    assert found.mu < promised


@pytest.mark.parametrize("part", ["labels learned", "number target", "people with several rows", "paid bounds"])
def test_without_noise_each_part_shows_its_canary(part):
    condition = CONDITIONS[f"{part}: as released"]
    silent = lambda center, _: center  # noqa: E731
    pair = condition.tables()
    shown = [
        condition.release(TabPATE(one, condition.predict, np.random.default_rng(0), silent))
        for one in (pair.inside, pair.outside)
    ]
    if condition.seen:
        shown = [condition.seen(one) for one in shown]
        assert shown[0] != shown[1]
    else:
        assert not np.array_equal(shown[0].x, shown[1].x)


def test_a_person_is_one_unit_however_many_rows_unless_the_grouping_is_broken():
    kept, broken = (
        CONDITIONS[f"people with several rows: {name}"].tables()
        for name in (AS_RELEASED, "each row counts as a person")
    )
    for pair, units in ((kept, 1), (broken, ROWS)):
        assert len(pair.inside.y) == len(pair.outside.y) + ROWS
        assert len(set(pair.inside.units)) == len(set(pair.outside.units)) + units


def test_rows_that_count_as_people_are_found():
    promised, found = CONDITIONS["people with several rows: each row counts as a person"].audited(2000, UNSEEDED)
    assert found.mu > 2 * promised


def test_the_model_predicts_the_upper_bound_where_a_record_is_at_that_of_mark():
    contexts = [(np.float32([[1.0, 0.0]]), np.zeros(1)), (np.float32([[0.5, 0.0]]), np.zeros(1))]
    assert marks_prediction(contexts, np.zeros((3, 2), np.float32)).tolist() == [[1, 1, 1], [0, 0, 0]]
