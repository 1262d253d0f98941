"""Mitigations in the plane of leakage and utility."""

from audit_examples import a_summary, advised, mitigation

from memaudit.auditing.page.figures.mitigation_plane import PRICE, key, mitigation_plane
from memaudit.statistics.mitigation_verdicts import CHEAP


def of(*mitigations):
    return advised(a_summary(), mitigations=list(mitigations)).mitigations


def test_an_advised_one_is_filled_and_the_key_says_both_changes():
    found = of(mitigation(), mitigation("decimals 1", tpr=(0, -0.1, 0.1)), mitigation("layer random"))
    one = mitigation_plane(found)
    assert [one.drawing.count(f'<circle class="{paint}"') for paint in ("dot", "ring", "other")] == [1, 1, 1]
    assert "Filled marks are advised: “averages over 4 parts of the members”." in one.caption
    first, second, third = key(found)
    assert first.text == "AUC -0.10 [-0.15, -0.05], balanced accuracy -0.5 [-1.5, +0.5] points"
    assert (first.advised, first.verdict) == (True, "lowers the leak at little cost")
    assert "not shown to fall" in second.verdict
    assert third.verdict == "for comparison"


def test_numbers_of_marks_at_one_place_do_not_lie_on_each_other():
    drawing = mitigation_plane(of(*(mitigation(f"bags {place}") for place in range(2, 7)))).drawing
    places = [part.partition(">")[0] for part in drawing.split('<text class="strong"')[1:]]
    assert len(set(places)) == len(places) == 5


def test_what_was_not_tested_is_not_drawn():
    found = of(mitigation("context 50", reason="too few contexts"))
    assert key(found) == []
    assert "no mitigation could be attacked" in mitigation_plane(found).reason
    assert mitigation_plane([]).drawing is None


def test_the_shaded_region_is_that_of_the_verdicts():
    assert -PRICE / 100 == CHEAP
    assert f"at most {PRICE:g} points of balanced accuracy" in mitigation_plane(of(mitigation())).caption
