"""Data-set inference: uniform p-values of corpora that are out, power, groups, errors."""

import numpy as np
import pytest
from scipy.stats import kstest

from memaudit.common.errors import AuditError
from memaudit.studies.attacks import dataset_inference

FPRS = (0.1,)


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


def signals(seed, leak=0.0, models=32, records=120, public=60, noise="normal"):
    """Skewed or normal signals of records that differ, in contexts that move all records, and each class apart."""
    rng = np.random.default_rng(seed)
    design, size = balanced(rng, models, records), records + public
    of_class = rng.choice([-1, 1], size)
    shared = rng.normal(size=(models, 1)) / 2 + rng.normal(size=(models, 1)) / 2 * of_class
    values = shared + (rng.normal(size=(models, size)) if noise == "normal" else rng.exponential(size=(models, size)))
    values[:, :records] += leak * design
    values = values * np.exp(rng.normal(size=size)) + 3 * rng.normal(size=size)
    return values[:, :records], design, values[:, records:], rng


def p_values(seed, records=20, trials=64, groups=None, **options):
    values, design, public, rng = signals(seed, **options)
    return dataset_inference.p_values(values, design, public, records=records, trials=trials, rng=rng, groups=groups)


@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_p_values_of_corpora_that_are_out_are_uniform_though_others_leak(noise):
    found = [p_values(seed, leak=1.0, noise=noise) for seed in range(40)]
    outside = np.concatenate([values[~inside] for values, inside in found])
    assert 0.035 < (outside <= 0.05).mean() < 0.065
    assert kstest(outside, "uniform").statistic < 0.05
    assert np.mean([(values[inside] <= 0.05).mean() for values, inside in found]) > 0.5


def test_public_records_are_fitted_on_as_few_sets_as_members_or_skewed_signals_would_be_called_members():
    """Fitted on all 7 others, public records give a size of .087 here."""
    outside = np.concatenate(
        [p_values(seed, models=8, noise="skewed", public=114, records=30)[0][:, 8:] for seed in range(60)]
    )
    assert (outside <= 0.05).mean() < 0.065


def test_a_context_that_is_sure_of_everybody_is_not_mistaken_for_one_that_has_the_corpus():
    """The sum of the corpus's standardised signals, the plain test, is."""
    plain, ranked = [], []
    for seed in range(20):
        values, design, public, rng = signals(seed)
        standardised = dataset_inference._standardised(values, design, public, rng)[0]
        outside = [z[~row][:20] for z, row in zip(standardised, design, strict=True)]
        plain += [z.mean() * len(z) ** 0.5 > 1.645 for z in outside]
        ranked += list(p_values(seed)[0][:, -1] <= 0.05)
    assert np.mean(plain) > 0.2
    assert np.mean(ranked) < 0.09


def test_copies_of_one_unit_are_one_piece_of_evidence():
    sizes = {"by unit": [], "by record": []}
    for seed in range(20):
        values, design, public, rng = signals(seed)
        values, design = (np.repeat(array, 4, axis=1) for array in (values, design))
        for name, groups in (("by unit", np.repeat(np.arange(120), 4)), ("by record", None)):
            found, inside = dataset_inference.p_values(
                values, design, public, records=40, trials=64, rng=rng, groups=groups
            )
            sizes[name].append((found[~inside] <= 0.05).mean())
    assert np.mean(sizes["by unit"]) < 0.07
    assert np.mean(sizes["by record"]) > np.mean(sizes["by unit"]) + 0.02


def test_power_grows_with_the_corpus_and_each_target_has_as_many_corpora():
    power = []
    for records in (5, 20, 40):
        found, inside = p_values(0, leak=0.7, records=records, trials=64)
        assert found.shape == inside.shape == (32, 4)
        assert (inside.sum(1) == 2).all()
        power.append((found[inside] <= 0.05).mean())
    assert power[0] < power[1] < power[2]
    assert p_values(0, trials=20)[0].shape == (20, 2)


def test_a_corpus_that_some_set_cannot_hold_is_refused():
    values, design, public, rng = signals(0)
    units = np.arange(120) // 2
    largest = dataset_inference.largest_corpus(design, np.arange(120))
    assert largest == min(design.sum(1).min(), (~design).sum(1).min())
    assert dataset_inference.largest_corpus(design, units) <= 60
    with pytest.raises(AuditError, match=f"only {largest} members or non-members"):
        dataset_inference.p_values(values, design, public, records=largest + 1, trials=20, rng=rng)


def test_power_and_size_are_shares_of_as_many_trials_as_target_sets():
    """Corpora of one target agree here: 400 cells are worth 40 sets, of standard deviation 1/2."""
    rng = np.random.default_rng(0)
    caught = np.arange(40)[:, None] % 2 == 0
    inside = np.broadcast_to(np.arange(10) < 5, (40, 10))
    values = np.where(inside & caught, 0.01, 0.5)
    power, size, auc, _ = dataset_inference.judge_corpora(values, inside, fprs=FPRS, rng=rng, replicates=400)
    assert (power.estimate, size.estimate, auc.estimate) == (0.5, 0.0, 0.75)
    assert power.high - power.low == pytest.approx(2 * 1.96 * 0.5 / 40**0.5, rel=0.2)
    assert auc.high - auc.low == pytest.approx((power.high - power.low) / 2, rel=0.2)
    assert power.n == size.n == 200
    # Nothing was rejected: of 40 trials that is no proof that nothing ever is.
    assert (size.low, size.high) == (0, pytest.approx(1 - 0.025 ** (1 / 40)))
    assert "two-way" not in auc.method


def test_the_null_of_a_leak_is_exceeded_and_its_p_values_are_studentised():
    options = {"records": 10, "trials": 48}
    for leak in (0.0, 1.5):
        values, design, public, rng = signals(1, leak, models=24, records=60)
        observed = dataset_inference.p_values(values, design, public, rng=rng, **options)
        null = dataset_inference.corpora_null(
            values, design, public, observed, permutations=19, fprs=FPRS, rng=rng, **options
        )
        assert null.values.shape == (19, 2)
        auc, _ = dataset_inference.judge_corpora(*observed, fprs=FPRS, rng=rng, replicates=20, null=null)[2:]
        assert auc.p_value == null.p_values[0]
        assert (auc.p_value <= 0.05) == (leak > 0)
