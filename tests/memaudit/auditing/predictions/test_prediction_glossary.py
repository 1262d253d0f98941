"""The glossary of an audit of predictions speaks of files, not of contexts of shadow models."""

from memaudit.auditing.predictions.prediction_glossary import OWN, TERMS


def test_no_term_needs_what_such_an_audit_has_not():
    assert OWN.keys() <= TERMS.keys()
    assert not [name for name, meaning in TERMS.values() if "shadow" in meaning]
