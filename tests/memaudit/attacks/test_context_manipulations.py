"""Each manipulation changes a context as defined, and the suite is that of the paper's Table 7."""

from collections import Counter

import numpy as np
import pytest
import yaml

from memaudit.attacks.context_manipulations import STEPS, Manipulation, effective, parsed
from memaudit.common.errors import AuditError
from memaudit.config.iclmem_section import Step

TABLE_7 = {"baseline": 1, "positional_shuffling": 3, "feature_reduction": 1, "distractor_injection": 2}
TABLE_7 |= {"uniform_scaling": 3, "random_scaling": 3, "skew_true_target": 3, "skew_incorrect_targets": 9}
TABLE_7 |= {"mixed_skewing": 7, "two_way_combinations": 9, "three_way_stress_tests": 7}


def manipulation(*steps, name="one"):
    return parsed([{"name": name, "category": "any", "steps": list(steps)}])[0]


def contexts(*steps, candidates=4, true=1, columns=6, count=300):
    rng = np.random.default_rng(0)
    one = manipulation(*steps)
    return [one.context(candidates, true, columns, rng) for _ in range(count)]


@pytest.fixture
def suite(config):
    return parsed(config["iclmem"]["manipulations"])


def test_the_config_allows_exactly_the_implemented_steps():
    assert Step.__annotations__.keys() == STEPS.keys()


def test_the_baseline_is_one_row_for_each_candidate():
    context = contexts()[0]
    assert context.labels.tolist() == [0, 1, 2, 3]
    assert context.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert context.noise.shape == (5, 0)


@pytest.mark.parametrize(
    ("steps", "true", "incorrect"),
    [
        ([{"uniform": 5}], 5, [5, 5, 5]),
        ([{"skew_true": 3}], 3, [1, 1, 1]),
        ([{"skew_false": {"labels": 1, "factor": 5}}], 1, [1, 1, 5]),
        ([{"skew_false": {"labels": 2, "factor": 3}}], 1, [1, 3, 3]),
        ([{"skew_false": {"labels": 9, "factor": 3}}], 1, [3, 3, 3]),
        ([{"mixed": {"correct": 5, "incorrect": 2}}], 5, [2, 2, 2]),
        ([{"skew_true": 3}, {"uniform": 2}], 6, [2, 2, 2]),
        ([{"shuffle": "random"}, {"skew_true": 2}, {"drop": 2}], 2, [1, 1, 1]),
    ],
)
def test_labels_occur_as_often_as_their_factors_require(steps, true, incorrect):
    for context in contexts(*steps):
        counts = np.bincount(context.labels, minlength=4)
        assert counts[1] == true
        assert sorted(np.delete(counts, 1)) == incorrect


def test_which_incorrect_labels_are_skewed_is_drawn():
    counts = sum(np.bincount(context.labels) for context in contexts({"skew_false": {"labels": 1, "factor": 2}}))
    assert counts[1] == 300
    assert (abs(counts[[0, 2, 3]] - 400) < 40).all()


def test_every_label_has_a_random_factor_of_its_own():
    counts = np.array([np.bincount(context.labels) for context in contexts({"random": 5})])
    assert counts.min(0).tolist() == [1] * 4
    assert counts.max(0).tolist() == [5] * 4
    assert abs(np.corrcoef(counts.T)[np.triu_indices(4, 1)]).max() < 0.2


def test_the_true_label_stands_first_or_last_and_the_others_in_order():
    mixed = {"mixed": {"correct": 2, "incorrect": 3}}
    others = [0, 0, 0, 2, 2, 2, 3, 3, 3]
    assert contexts({"shuffle": "first"}, mixed)[0].labels.tolist() == [1, 1, *others]
    assert contexts(mixed, {"shuffle": "last"})[0].labels.tolist() == [*others, 1, 1]


def test_a_random_order_puts_the_true_label_everywhere():
    places = Counter(context.labels.tolist().index(1) for context in contexts({"shuffle": "random"}))
    assert min(places[place] for place in range(4)) > 50


@pytest.mark.parametrize(("columns", "kept"), [(6, 4), (3, 1), (2, 1), (1, 1)])
def test_columns_are_removed_but_the_last_one(columns, kept):
    counts = np.zeros(columns)
    for context in contexts({"drop": 2}, columns=columns):
        assert len(context.columns) == kept
        assert (np.diff(context.columns) > 0).all()
        counts[context.columns] += 1
    assert (abs(counts / 300 - kept / columns) < 0.1).all()


def test_added_columns_are_standard_normal_and_differ_from_row_to_row():
    noise = np.stack([context.noise for context in contexts({"noise": 2})])
    assert noise.shape == (300, 5, 2)  # four rows and the query
    assert noise.dtype == np.float32
    assert abs(noise.mean()) < 0.06
    assert abs(noise.std() - 1) < 0.06
    assert abs(np.corrcoef(noise.reshape(300, 10).T)[np.triu_indices(10, 1)]).max() < 0.25


def test_the_same_generator_gives_the_same_context():
    one = manipulation({"shuffle": "random"}, {"random": 10}, {"drop": 2}, {"noise": 1})
    first, again = (one.context(5, 2, 8, np.random.default_rng(3)) for _ in range(2))
    for name in ("labels", "columns", "noise"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([{"shufle": "first"}], "there is no step 'shufle'; a step is one of shuffle, drop"),
        ([{"shuffle": "middle"}], "shuffle is 'middle'; give one of random, first, last"),
        ([{"drop": 0}], "drop is 0; give columns, from 1 on"),
        ([{"noise": True}], "noise is True"),
        ([{"uniform": 1}], "uniform is 1; give a factor, from 2 on"),
        ([{"random": 2.0}], r"random is 2\.0"),
        ([{"skew_true": "3"}], "skew_true is '3'"),
        ([{"skew_false": {"labels": 0, "factor": 2}}], "skew_false is"),
        ([{"skew_false": {"labels": 1, "factor": 2, "more": 1}}], "skew_false is"),
        ([{"mixed": {"correct": 2}}], "mixed is"),
        ([{"uniform": 2, "drop": 2}], "there is no step 'uniform, drop'"),
        ([{}], "there is no step 'nothing'"),
        ([{"skew_true": 2}, {"mixed": {"correct": 3, "incorrect": 2}}], "two steps set true; set it once"),
        ([{"drop": 1}, {"drop": 2}], "two steps set drop"),
    ],
)
def test_an_unknown_step_is_refused(steps, line):
    with pytest.raises(AuditError, match=f"manipulations, one: {line}") as caught:
        manipulation(*steps)
    assert "\n" not in str(caught.value)


def test_yaml_reads_true_and_false_as_booleans():
    """So the factors of mixed skewing are called correct and incorrect."""
    with pytest.raises(AuditError, match=r"mixed is .* give \{correct"):
        manipulation(yaml.safe_load("{mixed: {true: 3, false: 2}}"))


def test_a_suite_is_read_strictly():
    entry = {"name": "one", "category": "any", "steps": []}
    with pytest.raises(AuditError, match="one: is a repeated name"):
        parsed([entry, entry])
    with pytest.raises(AuditError, match="an entry has name, steps; it has name, category and steps"):
        parsed([{"name": "one", "steps": []}])
    with pytest.raises(AuditError, match="there are none"):
        parsed([])


def test_manipulations_repeat_another_if_they_build_the_same_contexts():
    """By brute force, over all pairs of steps that are not drawn."""
    labels = [{}, {"true": 2}, {"true": 5, "false": 5}, {"uniform": 5}, {"false": 2, "labels": 1}, {"false": 2}]
    labels += [{"false": 2, "labels": 2}, {"false": 2, "labels": 3}, {"uniform": 2, "true": 2}]
    shapes = [{}, {"drop": 1}, {"drop": 2}, {"noise": 1}, {"shuffle": "first"}]
    suite = [Manipulation(str((*a, *b)), "any", **a, **b) for a in labels for b in shapes]
    for candidates, columns in ((2, 3), (3, 2), (4, 1), (5, 9)):
        built = [_built(one, candidates, columns) for one in suite]
        expected = [built.index(one) == place for place, one in enumerate(built)]
        assert effective(suite, candidates, columns).tolist() == expected
        assert not all(expected)


def _built(one, candidates, columns):
    context = one.context(candidates, 1, columns, np.random.default_rng(0))
    counts = np.bincount(context.labels)
    return sorted(np.delete(counts, 1)), counts[1], len(context.columns), context.noise.shape[1], one.shuffle


def test_the_suite_has_the_papers_categories_and_counts(suite):
    assert Counter(one.category for one in suite) == TABLE_7
    assert {"mixed_true_5_non_true_5", "shuffle_and_skewed_2"} < {one.name for one in suite}
    positional = {one.name for one in suite if one.shuffle}
    combined = {one.name for one in suite if one.category.startswith(("two_way", "three_way", "positional"))}
    assert positional == combined


@pytest.mark.parametrize(("candidates", "number"), [(2, 41), (3, 44), (4, 47), (10, 47)])
def test_few_candidates_leave_fewer_manipulations(suite, candidates, number):
    kept = effective(suite, candidates)
    assert kept.sum() == number
    repeated = {one.name for one, counts in zip(suite, kept, strict=True) if not counts}
    skewed = {f"non_true_{k}_skewed_{f}" for k in range(candidates, 4) for f in (2, 3, 5)}
    assert repeated == skewed | {"mixed_true_5_non_true_5"}
