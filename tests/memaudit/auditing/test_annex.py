"""The annex shows what was used, and counts with all of their digits."""

from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.annex import Annex, checks_of, settings_of

CARD = {"family": "tabicl", "mode": "raw", "licence": "BSD-3-Clause", "sha256": "f" * 64}


def test_settings_of_attacks_that_were_not_made_are_left_out():
    attacks = ATTACKS | {"perturbation": {"count": 20}, "layer": 0.1, "attention": {"sets": 64}}
    audit = AUDIT | {"threats": ["probabilities"], "plan": {"sets": 32}}
    quick, full = (settings_of(audit | {"complete": stage}, attacks, 7) for stage in (False, True))
    assert quick["seed"] == 7
    assert quick["plan: sets"] == 32
    assert "attacks/layer" not in quick
    assert full["attacks/layer"] == 0.1
    assert "attacks/perturbation/count" not in full
    labels = settings_of(audit | {"complete": True, "threats": ["labels"]}, attacks, 7)
    assert labels["attacks/perturbation/count"] == 20
    assert "attacks/attention/sets" not in labels
    inside = settings_of(audit | {"complete": True, "threats": ["white-box"]}, attacks, 7)
    assert inside["attacks/attention/sets"] == 64


def test_counts_keep_their_digits():
    facts = {"rows": 1458, "without_target": 0, "task": "2 classes"}
    checks = checks_of(facts, {"duplicates": 1344.0}, {"members": 1234567.0, "tvd": 0.123456})
    assert checks["rows"] == 1458
    assert checks["deduplication: duplicates"] == "1344"
    assert checks["split: members"] == "1234567"
    assert checks["split: tvd"] == "0.123"


def test_names_of_rare_classes_are_shown_on_request():
    facts = {"rows": 9, "without_target": 0, "task": "2 classes", "rare": {"gone": 3}}
    assert checks_of(facts, {}, {}, show_values=True)["rare classes"] == "'gone' (3 rows)"
    assert "gone" not in checks_of(facts, {}, {})["rare classes"]


def test_a_model_is_named_by_its_card():
    annex = Annex.of({"seed": 1}, {}, {"the table": "0" * 64}, {"tabicl-small": CARD})
    assert annex.settings == [("seed", "1")]
    assert annex.cards == [("tabicl-small", f"tabicl, raw, BSD-3-Clause, sha256 {'f' * 64}")]
