"""The annex shows what was used, and counts with all of their digits."""

from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.page.annex import SPLIT, Annex, checks_of, settings_of
from memaudit.statistics.split_balance import SHARED, UNITS

CARD = {"family": "tabicl", "mode": "raw", "licence": "BSD-3-Clause", "sha256": "f" * 64}


def named(settings, key):
    """Values of the settings whose key of the config this is, with or without its meaning before it."""
    return [value for name, value in settings.items() if name == key or name.endswith(f"({key})")]


def test_settings_of_attacks_that_were_not_made_are_left_out():
    attacks = ATTACKS | {"perturbation": {"count": 20}, "layer": 0.1, "attention": {"sets": 64}}
    audit = AUDIT | {"threats": ["probabilities"], "plan": {"sets": 32}}
    quick, full = (settings_of(audit | {"complete": stage}, attacks, 7) for stage in (False, True))
    assert quick["seed"] == 7
    assert quick["size: shadow contexts"] == 32
    assert not named(quick, "attacks/layer")
    assert named(full, "attacks/layer") == [0.1]
    assert not named(full, "attacks/perturbation/count")
    labels = settings_of(audit | {"complete": True, "threats": ["labels"]}, attacks, 7)
    assert named(labels, "attacks/perturbation/count") == [20]
    assert not named(labels, "attacks/attention/sets")
    inside = settings_of(audit | {"complete": True, "threats": ["white-box"]}, attacks, 7)
    assert inside["shadow contexts (attacks/attention/sets)"] == 64


def test_counts_keep_their_digits():
    facts = {"rows": 1458, "without_target": 0, "task": "2 classes"}
    checks = checks_of(facts, {"duplicates": 1344.0}, {"members": 1234567.0, "tvd": 0.123456})
    assert checks["rows"] == 1458
    assert checks["deduplication: rows that repeat another one"] == "1344"
    assert checks["split: records that may be in a context"] == "1234567"
    assert checks["split: total variation distance of the classes of both sides"] == "0.123"


def test_every_count_and_check_has_words():
    assert {*SHARED, *UNITS, "members", "nonmembers", "covariate_auc", "covariate_null"} == SPLIT.keys()


def test_names_of_rare_classes_are_shown_on_request():
    facts = {"rows": 9, "without_target": 0, "task": "2 classes", "rare": {"gone": 3}}
    assert checks_of(facts, {}, {}, show_values=True)["rare classes"] == "'gone' (3 rows)"
    assert "gone" not in checks_of(facts, {}, {})["rare classes"]


def test_a_model_is_named_by_its_card():
    annex = Annex.of({"seed": 1}, {}, {"the table": "0" * 64}, {"tabicl-small": CARD})
    assert annex.settings == [("seed", "1")]
    assert annex.cards == [("tabicl-small", f"tabicl, raw, BSD-3-Clause, sha256 {'f' * 64}")]
