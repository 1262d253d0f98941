"""Models by name, file or import path."""

import pytest

from memaudit.auditing.reading import model_choice
from memaudit.common.errors import AuditError


def test_a_model_is_a_name_a_file_or_an_import_path(tmp_path):
    checkpoint = tmp_path / "tabpfn-v2-classifier.ckpt"
    checkpoint.touch()
    renamed = tmp_path / "weights;$(touch p).bin"
    renamed.touch()
    given = ["tabicl-small", str(checkpoint), f"tabicl:{renamed}", "sklearn.naive_bayes.GaussianNB"]
    added, names = model_choice.entries(given, {"var_smoothing": 1e-9})
    assert names == ["tabicl-small", "audited-2", "audited-3", "audited-4"]
    assert [added[name]["family"] for name in names[1:]] == ["tabpfn", "tabicl", "estimator"]
    assert added["audited-4"]["params"] == {"var_smoothing": 1e-9}


def test_models_of_other_packages_are_named_by_family_version_and_path(tmp_path):
    file = tmp_path / "weights.bin"
    file.touch()
    (tmp_path / "tabdpt1_3.safetensors").touch()
    given = [f"tabdpt:{file}", str(tmp_path / "tabdpt1_3.safetensors"), f"sdm/kumo-large:{file}", f"mitra:{tmp_path}"]
    added, names = model_choice.entries(given, {}, "classification")
    chosen = [added[name] for name in names]
    assert [one["family"] for one in chosen] == ["tabdpt", "tabdpt", "sdm", "mitra"]
    assert [one["version"] for one in chosen] == [None, None, "kumo-large", None]
    assert {one["mode"] for one in chosen} == {"as_deployed"}
    assert chosen[3]["path"] == str(tmp_path)


def test_a_name_of_the_catalogue_with_a_path_has_its_options_and_the_users_weights(tmp_path):
    added, names = model_choice.entries([f"mitra-in-context:{tmp_path}"], {}, "classification")
    assert added[names[0]] == {
        "family": "mitra",
        "version": None,
        "mode": "as_deployed",
        "options": {"fine_tune": False},
        "path": str(tmp_path),
        "licence": "the user's",
        "task": "classification",
    }
    with pytest.raises(AuditError, match="behind the catalogue's name give the path of its weights"):
        model_choice.entries([f"mitra-in-context:{tmp_path}/nothing"])


def test_a_package_without_the_task_and_a_network_that_is_not_named_are_refused(tmp_path):
    with pytest.raises(AuditError, match=r"mitra predicts|autogluon.tabular predicts no distribution of numbers"):
        model_choice.entries([f"mitra:{tmp_path}"], {}, "regression")
    file = tmp_path / "weights.bin"
    file.touch()
    with pytest.raises(
        AuditError, match=r"name the network, one of tabicl-v2, .*; give FAMILY:PATH, or FAMILY/VERSION"
    ):
        model_choice.entries([f"sdm:{file}"])


@pytest.mark.parametrize("name", ["tabicl-smal", "no/such.ckpt", "a b", "$(touch p)"])
def test_an_unknown_model_is_refused_in_one_line(name):
    with pytest.raises(AuditError, match=r"--model") as error:
        model_choice.entries([name])
    assert "\n" not in str(error.value)


def test_a_model_of_the_catalogue_becomes_that_of_the_task():
    given = ["tabicl-small", "tabicl-small-regression", "sklearn.linear_model.Ridge"]
    added, names = model_choice.entries(given, {}, "regression")
    assert names == ["tabicl-small-regression", "tabicl-small-regression", "audited-3"]
    assert added["audited-3"]["task"] == "regression"
    assert model_choice.labels(given, names) == [*names[:2], given[2]]
    assert model_choice.entries(given[1:2], {}, "classification") == ({}, ["tabicl-small"])


def test_a_model_without_a_sibling_for_the_task_is_refused():
    with pytest.raises(
        AuditError, match="tabpfn-v2-deployed: the target is a number, which this model does not predict"
    ):
        model_choice.entries(["tabpfn-v2-deployed"], {}, "regression")


def test_a_checkpoint_for_the_other_task_is_refused(tmp_path):
    path = tmp_path / "tabpfn-v2-classifier.ckpt"
    path.touch()
    with pytest.raises(AuditError, match="a classifier by its name, but the target is a number"):
        model_choice.entries([str(path)], {}, "regression")
    assert model_choice.entries([str(path)], {}, "classification")[0]["audited-1"]["task"] == "classification"


def test_a_checkpoint_of_unknown_family_is_refused(tmp_path):
    path = tmp_path / "weights.ckpt"
    path.touch()
    with pytest.raises(AuditError, match=r"tabicl:PATH or tabpfn:PATH, or that of another one: tabdpt, mitra"):
        model_choice.entries([str(path)])


def test_a_checkpoint_is_fine_tuned_raw_and_other_families_are_refused(tmp_path):
    assert model_choice.tunable("tabicl-small", {}) == ({}, "tabicl-small")
    own = {"family": "tabicl", "path": "/x.ckpt", "mode": "as_deployed", "licence": "the user's"}
    assert model_choice.tunable("given", {"given": own}) == ({"tuned": own | {"mode": "raw"}}, "tuned")
    with pytest.raises(AuditError, match=r"family estimator; only TabICL"):
        model_choice.tunable("forest", {"forest": {"family": "estimator"}})


def test_attention_is_read_of_a_checkpoints_raw_view_and_not_of_other_families():
    assert model_choice.readable("tabicl-small", {}) == ({}, "tabicl-small")
    own = {"family": "tabpfn", "path": "/x.ckpt", "mode": "as_deployed", "licence": "the user's"}
    assert model_choice.readable("given", {"given": own}) == ({"inside": own | {"mode": "raw"}}, "inside")
    for name, added in (("forest", {"forest": {"family": "estimator"}}), ("text-small", {})):
        with pytest.raises(AuditError, match=r"--threats white-box: .*; name a TabICL or TabPFN"):
            model_choice.readable(name, added)
