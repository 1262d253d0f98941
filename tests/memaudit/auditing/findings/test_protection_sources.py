"""Criteria that both kinds of audit use are complete."""

from memaudit.auditing.findings import protection_sources


def test_each_criterion_has_source_place_and_name():
    found = [one for one in vars(protection_sources).values() if isinstance(one, dict) and "source" in one]
    assert len(found) == 9
    assert len({one["name"] for one in found}) == 9
    assert all(one["place"] for one in found)
