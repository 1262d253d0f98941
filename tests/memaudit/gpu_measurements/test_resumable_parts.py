"""Parts go on where they ended: kept, retried and lost cases, time limits, processes that die."""

import os
import time

import pytest
import torch

from memaudit.common.io import read_json, write_json
from memaudit.gpu_measurements import resumable_parts
from memaudit.gpu_measurements.resumable_parts import Case, LeftOut, NotReached, Part, is_finished, run

IDENTITY = {"part": "trial", "size": "smallest", "device": "cpu", "versions": {"torch": "1"}}


@pytest.fixture(autouse=True)
def _no_matrix_products(monkeypatch):
    monkeypatch.setattr(resumable_parts, "machine", lambda device, smallest: {"name": device})


@pytest.fixture
def trial(tmp_path):
    """run(cases, identity, limit): what the file then holds; cases: functions of the setup, by name."""

    def start(cases, identity=IDENTITY, limit=60.0):
        listed = [Case(name, {"dtype": "fp32"}, measure) for name, measure in cases.items()]
        part = Part("trial", 60.0, lambda smallest: listed, str)
        return run(part, tmp_path / "gpu_trial.json", identity, "cpu", limit)

    start.path = tmp_path / "gpu_trial.json"
    return start


def answers(value):
    return lambda setup: {"value": value}


def fails(error):
    def measure(setup):
        raise error

    return measure


def outcomes(record):
    return {case["name"]: case["outcome"] for case in record["cases"]}


def test_a_finished_part_holds_its_cases_and_is_known_as_finished(trial):
    assert not is_finished(trial.path, IDENTITY)
    record = trial({"a": answers(1), "b": lambda setup: {"value": setup.done["a"]["value"] + 1}})
    assert record == read_json(trial.path)
    assert [(case["name"], case["value"], case["dtype"]) for case in record["cases"]] == [
        ("a", 1, "fp32"),
        ("b", 2, "fp32"),
    ]
    assert record["status"] == "finished"
    assert is_finished(trial.path, IDENTITY)
    assert not is_finished(trial.path, IDENTITY | {"versions": {"torch": "2"}})
    assert not is_finished(trial.path, IDENTITY | {"device": "Some GPU"})


def test_too_little_memory_is_an_outcome_and_the_other_cases_go_on(trial):
    errors = {"torch": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), "python": MemoryError()}
    record = trial({name: fails(error) for name, error in errors.items()} | {"last": answers(1)})
    assert outcomes(record) == {"torch": "out of memory", "python": "out of memory", "last": "measured"}
    assert "Tried to allocate 2 GiB" in record["cases"][0]["message"]
    assert record["status"] == "finished"


def test_a_failure_is_named_and_tried_again_while_the_rest_is_kept(trial):
    first = trial({"good": answers(1), "bad": fails(ValueError("no such kernel")), "none": fails(LeftOut("no GPU"))})
    assert outcomes(first) == {"good": "measured", "bad": "failed", "none": "left out"}
    assert first["status"] == "unfinished"
    assert first["cause"] == "failed: bad"
    second = trial({"good": fails(AssertionError("is kept")), "bad": answers(2), "none": answers(3)})
    assert outcomes(second) == {"good": "measured", "none": "left out", "bad": "measured"}
    assert second["status"] == "finished"


def test_a_file_of_other_versions_is_replaced(trial):
    trial({"a": answers(1)})
    record = trial({"a": answers(2)}, IDENTITY | {"versions": {"torch": "2"}})
    assert [case["value"] for case in record["cases"]] == [2]


def test_the_time_limit_ends_a_part_and_the_next_run_goes_on(trial):
    first = trial({"fast": answers(1), "slow": lambda setup: time.sleep(60), "later": answers(2)}, limit=3.0)
    assert outcomes(first) == {"fast": "measured"}
    assert (first["status"], first["cause"]) == ("unfinished", "its 3 s are over")
    second = trial({"fast": answers(9), "slow": fails(NotReached("too long")), "later": answers(2)})
    assert [case["name"] for case in second["cases"]] == ["fast", "later"]
    assert second["cases"][0]["value"] == 1
    assert second["cause"] == "not reached: slow"


def test_a_process_that_dies_costs_its_case_alone(trial):
    record = trial({"a": answers(1), "b": lambda setup: os._exit(7), "c": answers(3)})
    assert outcomes(record) == {"a": "measured", "b": "failed", "c": "measured"}
    assert record["cause"] == "failed: b"


def test_a_part_that_cannot_start_has_failed(trial, monkeypatch):
    monkeypatch.setattr(resumable_parts, "machine", lambda device, smallest: os._exit(5))
    record = trial({"a": answers(1)})
    assert record["cases"] == []
    assert record["cause"] == "a process ended with exit code 5"
    monkeypatch.setattr(resumable_parts, "machine", lambda device, smallest: {"name": device})
    assert trial({"a": answers(1)})["status"] == "finished"


def test_a_kept_file_without_its_last_case_is_completed(trial):
    write_json(
        IDENTITY | {"cases": [{"name": "a", "outcome": "measured", "value": 5}], "seconds_measured": 2.0}, trial.path
    )
    record = trial({"a": answers(1), "b": answers(2)})
    assert [case["value"] for case in record["cases"]] == [5, 2]
    assert record["seconds_measured"] > 2.0
