"""The shipped rates are held against a trained setting; one without enough memorized records is refused."""

import json

import pytest
from conftest import load_script
from predict_pipeline import job, results, run, table  # noqa: F401

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.studies.predict.setting_features import SettingFeatures

pytestmark = pytest.mark.usefixtures("one_thread")
PARAMS = {"memorized": 0.5, "replicates": 20}


def checked(run, folder):  # noqa: F811
    given = run.given | {"recommended": PROJECT / "resources/recommended.json"}
    made = {"rates": folder / "rates.json"}
    load_script("maintenance_check_recommended").main(job(given, made, PARAMS, "maintenance_check_recommended"))
    return json.loads(made["rates"].read_text())


def test_every_predictor_has_its_rates_on_every_setting(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(SettingFeatures, "refusal", "")
    toy = checked(run, tmp_path)["settings"]["toy"]
    assert [one["predictor"] for one in toy["rates"]] == ["psmi", "learned", "learned_checkpoints"]
    assert (toy["targets"], toy["models"]) == (2, 16)
    assert 0 < toy["memorized"] < toy["entries"]
    for one in toy["rates"]:
        assert all(0 <= one[rate]["measured"]["estimate"] <= 1 for rate in ("tpr", "fpr"))
        assert [one[rate]["targets"] for rate in ("tpr", "fpr")] == [2, 2]


def test_too_few_memorized_records_are_refused(run, tmp_path):  # noqa: F811
    with pytest.raises(AuditError, match=r"not judged: .*; train more targets"):
        checked(run, tmp_path)
    assert not (tmp_path / "rates.json").exists()
