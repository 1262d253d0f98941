"""What an audit adds on demand: facts for private contexts, sections of two studies, and what is gathered of them."""

import math

import pandas as pd
import pytest
import yaml

from memaudit import tidy
from memaudit.auditing import gather_results, model_choice, optional_stages
from memaudit.errors import AuditError
from memaudit.privacy.public_facts import read_public

COLUMNS = {
    "c0": {"name": "age", "type": "numeric", "use": True},
    "c1": {"name": "job", "type": "categorical", "use": True},
    "c2": {"name": "ward", "type": "numeric", "use": True},
    "c3": {"name": "note", "type": "text", "use": False},
}
FACTS = {"columns": COLUMNS, "taken": 4}


@pytest.fixture
def taken_in(tmp_path):
    """A folder as the intake leaves it: the table under safe names."""
    table = pd.DataFrame(
        {
            "c0": [41.0, 19.5, None, 88.0],
            "c1": ["nurse", "cook", None, "cook"],
            "c2": [7.0, 7.0, 7.0, 7.0],
            "target": ["yes", "no", "no", "yes"],
        }
    )
    (tmp_path / "table").mkdir()
    table.to_parquet(tmp_path / "table/table.parquet")
    return tmp_path


def test_without_published_facts_the_tables_own_bounds_are_used_and_the_file_says_that_no_epsilon_covers_them(taken_in):
    optional_stages.write_public(taken_in, FACTS, None)
    told = yaml.safe_load((taken_in / optional_stages.PUBLIC).read_text())
    assert told["columns"] == {"c0": [19.5, 88.0], "c1": ["cook", "nurse"], "c2": [7.0, 8.0]}
    assert told["target"] == ["no", "yes"]
    assert "epsilon does not cover" in told["source"]
    types = {safe: column["type"] for safe, column in COLUMNS.items() if column["use"]}
    assert read_public(taken_in / optional_stages.PUBLIC, types).records == 4


def test_published_facts_are_taken_under_the_safe_names_whatever_the_table_holds(taken_in):
    given = {"source": "a census", "records": 9, "task": "classification", "target": ["no", "yes"]}
    given["columns"] = {"age": [0, 120], "job": ["cook", "nurse", "pilot"], "ward": [1, 40]}
    (taken_in / "facts.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    optional_stages.write_public(taken_in, FACTS, taken_in / "facts.yaml")
    told = yaml.safe_load((taken_in / optional_stages.PUBLIC).read_text())
    assert told["columns"] == {"c0": [0, 120], "c1": ["cook", "nurse", "pilot"], "c2": [1, 40]}
    assert told["source"] == "a census"


def test_a_column_that_no_private_context_can_hold_is_named_before_anything_is_written(taken_in):
    facts = {**FACTS, "columns": COLUMNS | {"c3": COLUMNS["c3"] | {"use": True}}}
    with pytest.raises(AuditError, match=r"column 'note' is read as text.*--drop"):
        optional_stages.write_public(taken_in, facts, None)
    assert not (taken_in / optional_stages.PUBLIC).exists()


def test_too_few_records_to_fine_tune_on_are_named_with_the_number_that_is_needed():
    asked = ("table", "tabicl-small", {"lr_1e_3": {}, "placebo": {}, "lora": {}}, ["wine"])
    with pytest.raises(AuditError, match=r"120 records .* are too few; 126 are needed"):
        optional_stages.finetuning(asked[0], 120, *asked[1:])
    section = optional_stages.finetuning(asked[0], 600, *asked[1:])
    assert (section["queries"], section["context"]) == (50, 150)
    assert section["arms"]["lora"] == {"datasets": ["wine"]}
    assert section["arms"]["lr_1e_3"] == {"datasets": ["table"]}


def test_a_checkpoint_is_fine_tuned_raw_and_other_families_are_refused(tmp_path):
    assert model_choice.tunable("tabicl-small", {}) == ({}, "tabicl-small")
    own = {"family": "tabicl", "path": "/x.ckpt", "mode": "as_deployed", "licence": "the user's"}
    assert model_choice.tunable("given", {"given": own}) == ({"tuned": own | {"mode": "raw"}}, "tuned")
    with pytest.raises(AuditError, match=r"family estimator; only TabICL"):
        model_choice.tunable("forest", {"forest": {"family": "estimator"}})


def result(keys, metric, estimate, low=0.0, high=1.0):
    return tidy.row("tabpate", keys, metric, estimate, low=low, high=high, null=0.5)


def test_private_contexts_stand_beside_the_records_themselves_with_the_attack_where_there_was_one():
    arms = [("non_private", math.inf), ("dp_tabicl", 1.0), ("class_moments", 10.0), ("class_moments", 1.0)]
    worth = [result({"arm": arm, "epsilon": epsilon}, "balanced accuracy", 0.8) for arm, epsilon in arms]
    worth.append(result({"arm": "aim", "epsilon": 1.0}, "balanced accuracy", 0.7))
    less = {"arm": "class_moments - non_private", "epsilon": 1.0}
    worth.append(result(less, "balanced accuracy difference", -0.05))
    seen = {"arm": "class_moments", "epsilon": 1.0, "attack": "lira"}
    attack = [
        result(seen | {"records": "members"}, "auc", 0.51),
        result(seen | {"records": "members"}, "auc detected", 0.0),
        result(seen | {"records": "placebo"}, "auc", 0.99),
        result(seen | {"attack": "loss", "records": "members"}, "auc", 0.98),
    ]
    found = gather_results.private_contexts(tidy.frame(worth), tidy.frame(attack))
    assert [(one.method, one.epsilon) for one in found] == [
        ("class_moments", 1.0),
        ("class_moments", 10.0),
        ("dp_tabicl", 1.0),
        ("non_private", None),
    ]
    strict = found[0]
    assert strict.balanced_accuracy_difference.estimate == -0.05
    assert (strict.auc.estimate, strict.auc.detected) == (0.51, False)
    assert found[1].auc is found[1].balanced_accuracy_difference is None


def test_of_the_probes_what_the_loss_says_of_fine_tuned_records_is_told_with_its_test():
    keys = {"arm": "lr_1e_3", "epoch": 10, "records": "query", "signal": "loss"}
    results = [
        result(keys, "auc", 0.6),
        result(keys, "vanilla auc", 0.7),
        result(keys | {"signal": "margin"}, "auc", 0.99),
        result(keys | {"records": "context"}, "auc", 0.98),
        result(keys | {"arm": "placebo"}, "auc", 0.5),
        result(keys | {"arm": "placebo"}, "vanilla auc", 0.55),
    ]
    tests = [result({"arm": "lr_1e_3", "epoch": 10, "signal": "loss"}, "auc detected", 1.0)]
    tuned, placebo = gather_results.tuned(tidy.frame(results), tidy.frame(tests))
    assert (tuned.epoch, tuned.placebo, tuned.auc.estimate, tuned.auc.detected) == (10, False, 0.6, True)
    assert tuned.auc_in_context.estimate == 0.7
    assert (placebo.placebo, placebo.auc.detected, placebo.auc_in_context.estimate) == (True, None, 0.55)
