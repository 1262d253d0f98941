"""The page of a statement has its numbers, rounded so that it never overstates the guarantee."""

import math
import re

import numpy as np
import pytest

from memaudit.privacy.accounting import Budget
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.release_statement import guarantee_entries, in_words, query_counts, statement_terms
from memaudit.privacy.tabpate_release import Released

FACTS = {
    "dataset": "customers",
    "unit": "one household with all its rows",
    "epsilon": 1.0,
    "delta": 1e-6,
    "guarantee": {
        "probability_of_a_larger_privacy_loss": 2.02849e-05,
        "mu_of_a_gaussian_with_equal_rho": 0.2367,
        "largest_tpr_at_fpr": {"0.001": 0.00216212, "0.01": 0.0183711},
    },
    "public": {
        "file": "customers.yaml",
        "source": "the order form",
        "records": 400,
        "task": "classification",
        "target": ["no", "yes"],
        "columns": {"age": [18.0, 1234567.5], "a|b": ["", "north, east", "1"]},
        "settings": {"teachers": 20, "threshold": None},
    },
    "tuned": "on `adult` | nothing else\n# of ours",
    "records": 60,
    "spent": {"votes": {"sigma2": 17.3}},
}


def table(words):
    return dict(re.findall(r"^\| (.+?) \| (.*) \|$", words, re.MULTILINE))


def test_every_number_is_in_the_table():
    entries = table(in_words(FACTS))
    assert entries["epsilon"] == "1"
    assert entries["delta"] == "1e-06"
    assert entries["public: records"] == "400"
    assert entries["public: settings: teachers"] == "20"
    assert entries["public: settings: threshold"] == "none"
    assert entries["spent: votes: sigma2"] == "17.3"


def test_what_was_taken_as_public_is_listed_whole():
    """Bounds with all their digits, and categories in quotes: each column of the context, and the target."""
    words = in_words(FACTS)
    page = words[words.index("## Taken as public") : words.index("## In numbers")]
    assert "their source is stated as: the order form." in page
    assert "| age | number | from 18 to 1234567.5 |" in page
    assert r"""| a\|b | categories | "", "north, east", "1" |""" in page
    assert '| target | categories | "no", "yes" |' in page
    assert "public: columns" not in words
    assert "public: target" not in words


def test_the_terms_of_a_statement_have_bounds_and_categories_in_the_form_of_the_file_of_facts(tmp_path):
    columns = (Column("age", (18.0, 100.0)), Column("region", ("east", "north")))
    public = Public("customers", "a form", 5000, "regression", columns, Column("target", (0.0, 9.5)))
    (tmp_path / "customers.yaml").write_text("facts")
    settings = {"queries": 300, "labels": "group"}
    request = {"settings": settings, "epsilon": 1.0, "delta": 1e-5, "tuned": "on nothing", "model": "m"}
    found = statement_terms(request, None, public, Guarantee(0.5), tmp_path / "customers.yaml", "f" * 64)["public"]
    assert found["columns"] == {"age": [18.0, 100.0], "region": ["east", "north"]}
    assert (found["task"], found["target"]) == ("regression", [0.0, 9.5])


def test_a_text_of_the_owner_stays_in_its_cell():
    words = in_words(FACTS)
    assert table(words)["tuned"] == r"on `adult` \| nothing else # of ours"
    assert len(re.findall(r"^# ", words, re.MULTILINE)) == 1


@pytest.mark.parametrize(
    ("epsilon", "factor", "posterior"),
    [(0.1, "1.11", "53 %"), (1.0, "2.72", "74 %"), (3.0, "20.1", "96 %"), (10.0, "2.2e+04", "99.996 %")],
)
def test_the_words_say_what_epsilon_means(epsilon, factor, posterior):
    """e^epsilon, and e^epsilon / (1 + e^epsilon) rounded up."""
    words = " ".join(in_words(FACTS | {"epsilon": epsilon}).split())
    assert f"a factor of at most {factor}, plus 1e-06" in words
    assert f"a posterior probability of at most {posterior}, except with a probability of at most 2.03e-05" in words


def test_the_largest_success_of_a_test_is_rounded_up():
    entries = table(in_words(FACTS))
    assert (entries["0.1"], entries["1"]) == ("0.217", "1.84")


def test_several_rows_are_spoken_of_where_the_unit_is_a_row():
    words, rows = in_words(FACTS), {"epsilon_of_rows_at_this_delta": {"2": 2.1547, "10": math.inf}}
    assert "several rows" not in words
    words = in_words(FACTS | {"guarantee": FACTS["guarantee"] | rows})
    assert "| 2 | 2.16 |\n| 10 | inf |" in words


@pytest.mark.parametrize("one_row", [True, False])
def test_the_entries_of_a_guarantee_are_those_of_its_noise(one_row):
    entries = guarantee_entries(Guarantee(0.5), Budget(6.0, 1e-5), one_row)
    assert entries["mu_of_a_gaussian_with_equal_rho"] == 1
    assert entries["probability_of_a_larger_privacy_loss"] == pytest.approx(math.exp(-(5.5**2) / 2))
    assert list(entries["largest_tpr_at_fpr"]) == ["0.001", "0.01", "0.1"]
    assert ("epsilon_of_rows_at_this_delta" in entries) == one_row


@pytest.mark.parametrize(("epsilon", "weak"), [(3.0, False), (3.1, True), (1000.0, True)])
def test_a_large_epsilon_is_called_weak(epsilon, weak):
    assert ("is a weak guarantee" in in_words(FACTS | {"epsilon": epsilon})) == weak


def test_the_unit_is_named():
    assert "from the same table without one household with all its rows," in " ".join(in_words(FACTS).split())


def test_numbers_in_a_list_are_written_as_numbers():
    words = in_words(FACTS | {"spent": {"moments: sigma": [np.float64(10.5518302), 3.0]}})
    assert "| spent: moments: sigma | 10.5518, 3 |" in words


@pytest.mark.parametrize(
    ("settings", "counts"),
    [({}, {"asked": 30, "answered": 20}), ({"labels": "group"}, {"drawn": 20, "asked of a model": 0})],
)
def test_queries_are_counted_by_how_they_are_labelled(settings, counts):
    assert query_counts(Released(np.zeros((20, 2)), np.zeros(20), 30, 20, {}), settings) == counts
