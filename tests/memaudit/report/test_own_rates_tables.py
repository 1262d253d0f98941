"""The page says how many stated rates hold, which do not, and which could hardly fail."""

from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import docs_pages


def measured(**changes):
    stated, found = {"estimate": 0.4, "low": 0.2, "high": 0.6}, {"estimate": 0.5, "low": 0.45, "high": 0.55}
    rate = {"stated": stated, "measured": found, "place": "inside", "targets": 20, "targets_inside": 17}
    rates = [{"predictor": "psmi", "threshold": 0.0, "tpr": rate | changes, "fpr": rate}]
    one = {"targets": 20, "models": 256, "memorized": 512, "entries": 10000, "chance": 0.01, "rates": rates}
    return {"settings": {"fresh": one}, "seed": 1, "sources": "95 % prediction intervals, from 5 sources"}


def test_rates_that_hold_are_counted():
    page = docs_pages.own_rates(measured())
    assert "**Of 2 measured rates 2 lie with their whole interval in the stated one.**\n" in page
    assert "| fresh | psmi | TPR | 0.40 [0.20, 0.60] | 0.50 [0.45, 0.55] | inside | 17 of 20 |" in page
    assert "512 of 10,000 natural training\n  records memorized (by chance 1.0 %)" in page


def test_rates_outside_are_named():
    page = docs_pages.own_rates(measured(place="outside"))
    assert (
        "2 measured rates 1 lie with their whole interval in the stated one.** Not: TPR of psmi on fresh (outside)."
        in page
    )


def test_an_interval_that_cannot_be_missed_is_no_confirmation():
    wide = {"estimate": 0.5, "low": 0.0, "high": 0.9}
    assert "can hardly be missed and confirms nothing: TPR of psmi." in docs_pages.own_rates(measured(stated=wide))


def test_the_published_file_has_twenty_targets_of_each_kind():
    shipped = read_json(PROJECT / "results/bench/own_rates.json")
    assert {one["targets"] for one in shipped["settings"].values()} == {20}
    assert {one["predictor"] for one in shipped["settings"]["credit_fresh"]["rates"]} == {
        "psmi",
        "learned",
        "learned_checkpoints",
    }
