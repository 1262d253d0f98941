"""No name of the results stands on the page of an audit: each mitigation is described in words."""

import re

import page_states
import pytest
from audit_examples import a_summary, advised, mitigation

from memaudit.auditing.summaries.mitigation_names import called

WORDS = {
    "none": "no mitigation",
    "decimals 1": "probabilities rounded to 1 digit",
    "decimals 2": "probabilities rounded to 2 digits",
    "bags 4": "averages over 4 parts of the members",
    "context 50": "fewer members, 50",
    "labels only": "labels without probabilities",
    "predicted numbers only": "predicted numbers without densities",
    "layer dropped": "without the most vulnerable tenth of the records",
    "layer coarsened": "fewer details of the most vulnerable tenth of the records",
    "layer random": "without a random tenth of the records",
    "keys 16": "k-anonymous keys of 16 rows, inside the model",
    "keys": "k-anonymous keys, inside the model",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_mitigation_is_called_by_words(name):
    assert called(name) == WORDS[name]


def test_a_name_of_a_later_version_is_kept():
    assert called("shuffled 3") == "shuffled 3"


def test_the_page_and_its_advice_have_words_alone():
    cost = (-0.1, -0.2, -0.05)
    every = [mitigation(), *(mitigation(name, cost=cost) for name in WORDS if name != "bags 4")]
    page = page_states.of_table(advised(a_summary(), mitigations=every))
    assert "Not advised are " in page
    names = [name for name in WORDS if name not in ("none", "keys")]
    assert not [name for name in names if re.search(rf"\b{name}\b", page)]
