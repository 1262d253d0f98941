"""A file of measurements is written after every part, and only what is missing, old or named is measured."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.common.resumable_measurements import resume


@pytest.fixture
def measured(tmp_path):
    """Measures parts whose version is current; returns the names that were measured."""
    path = tmp_path / "bench.json"

    def run(parts=("one", "two"), version=1, stops_at=None, **options):
        again = []

        def measure(name):
            if name == stops_at:
                raise KeyboardInterrupt
            again.append(name)
            return {"version": version, "cpu_seconds": 0.1}

        resume(path, "parts", parts, measure, lambda _, known: known["version"] == version, **options)
        return again

    run.read = lambda: read_json(path)
    return run


def test_what_is_known_is_kept_and_what_is_old_or_named_is_measured(measured):
    assert measured() == ["one", "two"]
    assert measured() == []
    assert measured(only=["two"]) == ["two"]
    assert measured(parts=("one", "two", "three")) == ["three"]
    assert measured(version=2) == ["one", "two"]
    assert measured(version=2, force=True) == ["one", "two"]


def test_named_parts_alone_are_measured_where_others_are_old(measured):
    measured()
    assert measured(version=2, only=["two"]) == ["two"]
    assert measured.read()["parts"]["one"]["version"] == 1


def test_an_interrupted_run_goes_on_where_it_ended(measured):
    with pytest.raises(KeyboardInterrupt):
        measured(stops_at="two")
    assert measured.read()["parts"].keys() == {"one"}
    assert measured() == ["two"]


def test_parts_that_are_gone_leave_and_texts_are_those_of_the_code(measured):
    measured()
    assert measured(parts=("two",), described=lambda name: {"text": f"of {name}"}, facts={"order": [1]}) == []
    found = measured.read()
    assert found == {"order": [1], "parts": {"two": {"version": 1, "cpu_seconds": 0.1, "text": "of two"}}}


def test_an_unknown_name_is_refused_before_anything_is_measured(measured):
    with pytest.raises(AuditError, match="only: nothing is named 'three'; there are one, two"):
        measured(only=["three"])
