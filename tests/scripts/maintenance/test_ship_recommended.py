"""What is shipped for own records is a run's, whole, and usable by every predictor."""

from types import SimpleNamespace

import pytest
from conftest import PROJECT, load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json

SHIPPED = PROJECT / "resources/recommended.json"


def ship(given, made):
    load_script("maintenance_ship_recommended").main(SimpleNamespace(input=[str(given)], output=[str(made)]))


def test_a_runs_recommendations_are_copied_byte_for_byte(tmp_path, capsys):
    ship(SHIPPED, tmp_path / "made.json")
    assert (tmp_path / "made.json").read_bytes() == SHIPPED.read_bytes()
    assert "learned_checkpoints: TPR" in capsys.readouterr().out


def test_a_run_that_judged_too_few_settings_ships_nothing(tmp_path):
    for incomplete in ([], read_json(SHIPPED)[:2]):
        write_json(incomplete, tmp_path / "run.json")
        with pytest.raises(AuditError, match="holds no recommended setting for"):
            ship(tmp_path / "run.json", tmp_path / "made.json")
    assert not (tmp_path / "made.json").exists()
