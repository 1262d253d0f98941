"""Tuning goes on where it was interrupted; the best mean is chosen; one effort holds for all arms of a file."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.workflow.job import Paths

SCRIPT = load_script("maintenance_tune_tabpate")
GRIDS = {
    "mst": {"classification": [{"bins": 4}, {"bins": 8}]},
    "tuned_alpha": {"regression": [{"teachers": 5}, {"teachers": 10}]},  # compared at epsilon 10 alone
}


@pytest.fixture
def tune(tmp_path, monkeypatch):
    """Runs the script with scores that grow with the setting, but at epsilon 1; returns entries that were scored."""
    monkeypatch.setattr(SCRIPT, "GRIDS", GRIDS)
    monkeypatch.setattr(SCRIPT, "_tables", lambda task, records: [])
    path = tmp_path / "settings.json"

    def run(stops_at=None, **params):
        scored = []

        def scores(tables, entry, epsilons, params):
            if entry["method"] == stops_at:
                raise KeyboardInterrupt
            scored.append(entry)
            value = entry["settings"].get("bins", 0) + entry["settings"].get("teachers", 0)
            return [[-value, 0.0] if epsilon == 1 else [value, 0.0] for epsilon in epsilons]

        monkeypatch.setattr(SCRIPT, "_scores", scores)
        params = {"epsilons": [1.0, 10.0], "delta": 1e-5, "records": 100, "repeats": 1} | params
        SCRIPT.main(SimpleNamespace(params=SimpleNamespace(**params), output=Paths([str(path)])))
        return scored

    run.read = lambda: read_json(path)
    return run


def test_the_best_of_each_epsilon_is_chosen_and_an_arm_is_tuned_where_it_is_compared(tune):
    scored = tune()
    assert [entry["settings"]["columns"] for entry in scored[:2]] == [6, 6], "what is not varied is the arm's own"
    arms = tune.read()["arms"]
    mst, alpha = arms["mst"]["classification"], arms["tuned_alpha"]["regression"]
    assert {epsilon: one["settings"]["bins"] for epsilon, one in mst.items()} == {"1": 4, "10": 8}
    assert mst["1"]["scores"] == [-2.0, -4.0]
    assert list(alpha) == ["10"]
    assert arms["mst"]["cpu_seconds"] >= 0


def test_an_interrupted_tuning_goes_on_and_changed_candidates_are_tuned_again(tune, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        tune(stops_at="tabpate-tuned")
    assert list(tune.read()["arms"]) == ["mst"]
    assert {entry["method"] for entry in tune()} == {"tabpate-tuned"}
    assert tune() == []
    monkeypatch.setitem(GRIDS, "mst", {"classification": [{"bins": 4}, {"bins": 16}]})
    assert {entry["method"] for entry in tune()} == {"mst"}
    assert {entry["method"] for entry in tune(only=["tuned_alpha"])} == {"tabpate-tuned"}


def test_another_effort_is_refused_unless_all_arms_are_tuned_anew(tune):
    tune()
    with pytest.raises(AuditError, match="tune all anew by `force`"):
        tune(repeats=2)
    assert len(tune(repeats=2, force=True)) == 4
    assert tune.read()["effort"]["repeats"] == 2


def test_every_arm_of_the_grids_is_compared_and_has_complete_settings(monkeypatch):
    monkeypatch.undo()
    arms = SCRIPT._arms()
    assert arms.keys() == SCRIPT.GRIDS.keys()
    assert arms["aim"]["settings"]["rounds"] == 16
    assert arms["learned_labels"]["settings"]["labels"] == "learned"
