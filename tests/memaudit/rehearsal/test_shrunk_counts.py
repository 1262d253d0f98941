"""Counts of a config become smaller by rules; nothing else changes, and no count is forgotten."""

from copy import deepcopy

import pytest
import yaml
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked
from memaudit.rehearsal.shrunk_counts import shrunk, unruled, unused

RULES = yaml.safe_load((PROJECT / "config" / "rehearsal.yaml").read_text(encoding="utf-8"))
CONFIG = {
    "models": 512,
    "epsilons": [1.0, 10.0],
    "sizes": [16, 512],
    "arms": {"main": {"sets": 64, "variants": [{"context": 32}, {"context": 64, "order": 0}]}, "none": {"sets": 4}},
    "epochs": [1, 10, 100],
    "on": True,
}


def test_a_count_becomes_the_largest_value_of_its_rule_and_a_smaller_one_stays():
    assert shrunk(CONFIG, {"models": 8, "arms/*/sets": 16}) == {"models": 8, "arms": {"main": {"sets": 16}}}
    assert shrunk(CONFIG, {"on": 0, "epsilons/*": 100}) == {}


def test_the_first_rule_that_matches_is_used():
    assert shrunk(CONFIG, {"arms/none/sets": 2, "arms/*/sets": 1})["arms"] == {"none": {"sets": 2}, "main": {"sets": 1}}


def test_values_that_must_stay_apart_are_divided_and_a_list_of_settings_stays_whole():
    over = shrunk(CONFIG, {"arms/*/variants/*/context": {"divided_by": 8}})
    assert over == {"arms": {"main": {"variants": [{"context": 4}, {"context": 8, "order": 0}]}}}


def test_a_shard_may_become_larger_so_that_jobs_become_fewer():
    assert shrunk({"shard": 2}, {"shard": {"exactly": 8}}) == {"shard": 8}


def test_a_list_of_numbers_gets_as_many_others_and_epochs_may_be_fewer():
    assert shrunk(CONFIG, {"sizes": [8, 16], "epochs": [1, 2]}) == {"sizes": [8, 16], "epochs": [1, 2]}
    for rule in ([8], [8, 16, 24], 8):
        with pytest.raises(AuditError, match="sizes: 2 values, and its rule"):
            shrunk(CONFIG, {"sizes": rule})


def test_whole_numbers_without_a_rule_and_rules_without_a_number_are_named():
    rules = {"models": 8, "arms/*/sets": 16, "sizes": [8, 16], "nothing/*": 3}
    kept = ["epochs/*", "arms/*/variants/*/order"]
    left = ["arms/main/variants/0/context", "arms/main/variants/1/context"]
    assert unruled(CONFIG, rules, kept) == left
    assert unused(CONFIG, [*rules, *kept]) == ["nothing/*"]


@pytest.fixture
def paper():
    return load("paper")


def test_every_whole_number_of_the_papers_config_has_a_rule_or_is_kept(paper):
    assert unruled(paper, RULES["at_most"], RULES["kept"]) == []
    assert unused(paper, RULES["at_most"]) == []


def test_the_shrunk_config_is_valid_and_has_every_name_and_length_of_the_papers(paper):
    small = load("paper")
    _lay(small, shrunk(paper, RULES["at_most"]))
    besides = deepcopy(small)
    _lay(besides, RULES["besides"])
    checked(besides)
    for (path, value), (same, new) in zip(_leaves(paper), _leaves(small), strict=True):
        assert path == same
        if value != new:
            assert isinstance(value, int | float), path
            assert new < value or "exactly" in str(RULES["at_most"].get("/".join(path), "*")) or "shard" in path, path


def _lay(into, over):
    for key, value in over.items():
        if isinstance(value, dict):
            _lay(into.setdefault(key, {}), value)
        else:
            into[key] = value


def _leaves(value, path=()):
    """Leaves of a config by path; lists of epochs, which may be shorter, are left out."""
    if isinstance(value, dict) or (isinstance(value, list) and path[-1] != "epochs"):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(one, (*path, str(key)))
    elif not isinstance(value, list):
        yield path, value
