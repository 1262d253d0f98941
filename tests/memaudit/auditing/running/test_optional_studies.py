"""Public facts for private contexts, and the sections of two studies."""

import pandas as pd
import pytest
import yaml

from memaudit.auditing.running import optional_studies
from memaudit.common.errors import AuditError

COLUMNS = {
    "c0": {"name": "age", "type": "numeric", "use": True},
    "c1": {"name": "job", "type": "categorical", "use": True},
    "c2": {"name": "ward", "type": "numeric", "use": True},
    "c3": {"name": "note", "type": "text", "use": False},
}


FACTS = {"columns": COLUMNS, "taken": 4}
CASES = [("regression", 0), ("classification", 11), ("classification", 10)]


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


def test_published_facts_are_written_under_the_safe_names(taken_in):
    given = {"source": "a census", "records": 9, "task": "classification", "target": ["no", "yes"]}
    given["columns"] = {"age": [0, 120], "job": ["cook", "nurse", "pilot"], "ward": [1, 40]}
    (taken_in / "facts.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    copy = taken_in / "table/table.parquet"
    optional_studies.write_public(taken_in, optional_studies.public_facts(copy, FACTS, taken_in / "facts.yaml"))
    public = yaml.safe_load((taken_in / optional_studies.PUBLIC).read_text())
    assert public["columns"] == {"c0": [0, 120], "c1": ["cook", "nurse", "pilot"], "c2": [1, 40]}
    assert public["source"] == "a census"


def test_a_class_that_the_published_facts_do_not_name_is_refused(taken_in):
    given = {"source": "a census", "records": 9, "task": "classification", "target": ["No", "yes"]}
    given["columns"] = {"age": [0, 120], "job": ["cook", "nurse", "pilot"], "ward": [1, 40]}
    (taken_in / "facts.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    with pytest.raises(AuditError, match=r"facts.yaml: target: 1 of the table's classes are not named"):
        optional_studies.public_facts(taken_in / "table/table.parquet", FACTS, taken_in / "facts.yaml")


def test_a_text_column_is_refused(taken_in):
    facts = {**FACTS, "columns": COLUMNS | {"c3": COLUMNS["c3"] | {"use": True}}}
    with pytest.raises(AuditError, match=r"column 'note' is read as text.*--drop"):
        optional_studies.public_facts(taken_in / "table/table.parquet", facts, taken_in / "facts.yaml")


def test_parts_that_need_classes_are_refused_for_numbers_and_for_many_classes():
    number, many, few = ({"kind": kind, "classes": count} for kind, count in CASES)
    for facts in (number, many):
        for parts in ((False, True), (True, False)):
            with pytest.raises(AuditError, match=r"leave --(epsilon|finetune) out"):
                optional_studies.check_target(facts, ["labels"], *parts)
        optional_studies.check_target(facts, ["labels", "probabilities"], False, False)
    with pytest.raises(AuditError, match=r"--threats poison: .* the target is a number"):
        optional_studies.check_target(number, ["poison"], False, False)
    optional_studies.check_target(many, ["poison"], False, False)
    optional_studies.check_target(number, ["white-box"], False, False)
    with pytest.raises(AuditError, match=r"--threats white-box: .* at most 10 classes"):
        optional_studies.check_target(many, ["white-box"], False, False)
    optional_studies.check_target(few, ["poison"], True, True)


def test_too_few_records_for_fine_tuning_are_refused_with_the_number_needed():
    arguments = ("table", "tabicl-small", {"lr_1e_3": {}, "placebo": {}, "lora": {}}, ["wine"])
    with pytest.raises(AuditError, match=r"120 records .* are too few; 126 are needed"):
        optional_studies.finetuning(arguments[0], 120, *arguments[1:])
    section = optional_studies.finetuning(arguments[0], 600, *arguments[1:])
    assert (section["queries"], section["context"]) == (50, 150)
    assert section["arms"]["lora"] == {"datasets": ["wine"]}
    assert section["arms"]["lr_1e_3"] == {"datasets": ["table"]}


def test_inference_needs_probabilities_and_two_columns():
    columns = {name: {"use": name != "c2"} for name in ("c0", "c1", "c2")}
    facts = {"infer": ["c0"], "columns": columns}
    optional_studies.check_inference(facts, ["labels", "probabilities"])
    with pytest.raises(AuditError, match="--infer: the adversary reads probabilities"):
        optional_studies.check_inference(facts, ["labels"])
    with pytest.raises(AuditError, match="--threats linkability: needs two columns"):
        optional_studies.check_inference({"infer": [], "columns": {"c0": {"use": True}}}, ["linkability"])
    optional_studies.check_inference({"infer": [], "columns": {}}, ["labels"])
    assert optional_studies.questions({"infer": ["c0"], "threats": ["labels", "linkability"]}) == 2
