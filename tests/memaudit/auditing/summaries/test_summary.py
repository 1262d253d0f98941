"""The summary's JSON schema, and its lookups."""

import json

import pytest
from audit_examples import a_summary, seen_inside
from conftest import PROJECT
from pydantic import ValidationError

from memaudit.auditing.summaries import summary


def test_the_json_schema_in_the_docs_is_the_models():
    text = (PROJECT / "docs/audit.schema.json").read_text(encoding="utf-8")
    assert text == summary.schema(), "run python -m memaudit.auditing.summaries.summary"
    assert json.loads(a_summary().model_dump_json())["advice"]


def test_the_main_attack_and_the_negative_control_are_looked_up():
    example = a_summary()
    assert (example.headline.records, example.headline.attack) == ("members", "strongest")
    assert example.rows() is None
    assert [one.attack for one in example.scores()] == ["lira"]
    persons = example.headline.model_copy(update={"records": "persons"})
    example = example.model_copy(update={"adversaries": [*example.adversaries, persons]})
    assert example.headline == persons
    assert example.rows().records == "members"
    assert example.placebo().records == "placebo"


def test_an_adversary_who_sees_attention_is_looked_up_apart():
    plain, example = a_summary(), seen_inside(a_summary())
    assert example.headline == plain.headline
    for method in ("placebo", "companions", "scores"):
        assert getattr(example, method)() == getattr(plain, method)()
    found = example.white_box()
    assert [(one.attack, one.records) for one in found] == [
        ("strongest", "members"), ("attention", "members"), ("strongest", "placebo"), ("strongest", "companions"),
    ]  # fmt: skip
    assert example.white_box_contexts() == 100 // (100 // 32)
    assert plain.white_box() == []


def test_unknown_keys_are_refused():
    with pytest.raises(ValidationError, match="extra"):
        summary.Advice(rule="a", text="b", reason="c")
