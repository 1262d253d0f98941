"""Results of planted models become the controls of the headline and of single attacks."""

from memaudit.auditing.summaries import summarize_controls
from memaudit.common import tidy
from memaudit.statistics.attack_performance import Estimate, rows


def planted(found, auc, **keys):
    """Rows of a lookup with this AUC, and of models without a leak of which so many are found."""
    keys = {"dataset": "wine", **keys}
    lookup = Estimate("lookup auc", auc, 0.4, 1.0, 64, "", 0.5, p_value=0.03, detected=auc > 0.6)
    innocent = keys | {"planted": "innocent"}
    yield from rows("audit", keys | {"planted": "lookup"}, [lookup])
    yield tidy.row("audit", innocent, "found", found, n=4)
    yield tidy.row("audit", innocent, "check failed", 2 * found > 5, n=4)


def test_controls_of_single_attacks_are_not_those_of_the_headline():
    results = [*planted(0, 0.98), *planted(3, 0.55, checked="boundary")]
    results.append(tidy.row("audit", {"dataset": "wine", "planted": "lookup"}, "changed answers", 0.7, n=64))
    table = tidy.frame(results)
    (boundary,) = summarize_controls.controls(table)
    assert (boundary.attack, boundary.lookup.estimate, boundary.lookup.detected) == ("boundary", 0.55, False)
    assert (boundary.innocents, boundary.innocents_found, boundary.innocent_failed) == (4, 3, True)
    headline = summarize_controls.strength(table, 0.01)
    assert (headline.lookup.estimate, headline.lookup_changed, headline.innocents_found) == (0.98, 0.7, 0)
    assert not headline.innocent_failed


def test_an_audit_without_such_attacks_has_no_controls_of_them():
    assert summarize_controls.controls(tidy.frame(list(planted(0, 0.98)))) == []
