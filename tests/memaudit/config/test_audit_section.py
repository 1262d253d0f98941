"""Faults of the section `audit`, which `./memaudit audit` writes, that several keys together have."""

import pytest
from audit_examples import AUDIT
from conftest import load
from pydantic import ValidationError

from memaudit.config import audit_section
from memaudit.config.schema import Config


def faults(**audit):
    """Lines of the default config with a section `audit` of these keys."""
    config = Config.model_validate(load())
    keys = {"dataset": "wine", "models": {"main": {}}, "fpr": config.attacks.fpr[0]}
    keys |= {"infer": [], "threats": ["labels"], "inference": audit_section.Inference()}
    section = type("Audit", (), keys | audit)
    return list(audit_section.audit_faults(section, config.attacks, config))


def test_a_section_that_fits_the_attacks_has_no_fault():
    assert faults(dataset=load()["attacks"]["datasets"][0]) == []


@pytest.mark.parametrize(
    ("audit", "line"),
    [
        ({"dataset": "wyne"}, "audit/dataset: unknown dataset 'wyne'; did you mean `wine`?"),
        ({"dataset": "iris"}, "audit/dataset: "),
        ({"models": {}}, "audit/models: the arm `main` is missing; it has the model that is audited"),
        ({"models": {"main": {}, "twin": {}}}, "audit/models/twin: there is no such arm in attacks/arms; add it"),
        (
            {"infer": ["c0"], "inference": audit_section.Inference(sets=10**6)},
            "audit/inference/sets: 1000000 shadow contexts requested, `main` has ",
        ),
        ({"fpr": 0.3}, "audit/fpr: 0.3 is none of attacks/fpr; name it there"),
    ],
)
def test_a_fault_is_one_clear_line(audit, line):
    assert any(fault.startswith(line) for fault in faults(**audit))


def test_a_noun_for_rows_has_letters_and_single_spaces():
    for noun in ("", "modules", "data modules", "Gebäude"):
        assert audit_section.Audit.model_validate(AUDIT | {"records": noun}).records == noun
    for noun in ("mod1", "<b>", "a  b", "x" * 41):
        with pytest.raises(ValidationError, match="records"):
            audit_section.Audit.model_validate(AUDIT | {"records": noun})
