"""The page of mechanism costs says what is bought, and that nothing is where nothing is."""

import pytest

from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import docs_pages
from memaudit.studies.mechanism_costs.measured_costs import PARTS


def computed(released, share=0.2):
    """One table and two candidates; with the independent cost 100 labels and half of the budget for a run."""
    counts = {"independent": 100.0, "released": released, "unreleased": 100_000}
    facts = {"teachers": 10, "epsilon": 1.0, **counts}
    votes = {"table": "town", "records": 900, "classes": 2, "agreed": 0.5, **facts}
    ways = {"all candidates": (1.0, 0.5), "geometric": (0.9, share)}
    selection = [
        {"candidates": 2, "way": way, "runs": 2.0, "chance": chance, "total": {"1": 2.0}, "share": {"1": one}}
        for way, (chance, one) in ways.items()
    ]
    labels = [{"agreement": 0.9, "noise": noise, **facts} for noise in ("as tuned", "best for each")]
    rows = {"labels": labels, "selection": selection, "votes town": [votes]}
    return {
        "delta": 1e-5,
        "most": 100_000,
        "parts": {name: {"rows": one, "cpu_seconds": 60.0} for name, one in rows.items()},
    }


@pytest.mark.parametrize(
    ("released", "sentence"), [(60.0, "nothing, 0.60"), (105.0, "nothing"), (150.0, "more labels")]
)
def test_what_the_released_cost_buys_is_said(released, sentence):
    page = docs_pages.mechanism_costs(computed(released))
    assert f"10 teachers (1 tables): the released data-dependent cost buys {sentence}" in page
    assert f"in every query: it buys {sentence.split(',')[0]}" in page
    assert "100,000 or more" in page


@pytest.mark.parametrize(("share", "kind"), [(0.2, "less, 0.40"), (0.52, "hardly more, 1.04"), (0.9, "more, 1.80")])
def test_what_private_selection_leaves_is_said(share, kind):
    page = docs_pages.mechanism_costs(computed(100.0, share))
    assert f"leaves a run {kind} times the rho of paying for all, and misses the best one in 10%" in page


def test_the_published_file_has_every_part():
    published = read_json(PROJECT / "results/bench/mechanism_costs.json")
    assert published["parts"].keys() == set(PARTS)
