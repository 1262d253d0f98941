"""Attribute, data-set and property inference find what was planted and nothing else; p-values are uniform."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script
from scipy.stats import kstest, norm
from sklearn.metrics import roc_auc_score

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.io import write_grid
from memaudit.statistics import roc
from memaudit.studies.attacks import attribute_inference_results, dataset_inference, property_inference
from memaudit.workflow.job import Paths

FPRS = (0.1,)


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


def posteriors(seed, added=0.0, models=16, records=60, bins=2):
    """Log posteriors of records whose bin a stranger's model guesses a little, and a member's one better by `added`."""
    rng = np.random.default_rng(seed)
    design, truth = balanced(rng, models, records), rng.integers(bins, size=records)
    right = truth[:, None] == np.arange(bins)
    strength = rng.normal(size=(models, 1)) / 4 + rng.normal(size=records) / 2 + 0.5 + added * design
    return rng.normal(size=(models, records, bins)) + strength[..., None] * right, truth, design, rng


def judged(values, truth, design, rng, **options):
    said = attribute_inference_results.guesses(values, truth, np.array([0.4, 0.6]))
    return attribute_inference_results.judge_attribute(
        said, design, fprs=FPRS, rng=rng, replicates=60, permutations=19, **options
    )


def test_both_sides_are_the_cells_of_the_design_and_their_difference_is_the_estimates_difference():
    values, truth, design, rng = posteriors(0, added=1.0)
    found = judged(values, truth, design, rng)
    positive = np.broadcast_to(truth == 1, design.shape)
    for side, cells in (("members", design), ("non-members", ~design)):
        accuracy, auc, tpr = found[side]
        assert accuracy.estimate == pytest.approx((values.argmax(-1) == truth)[cells].mean())
        assert accuracy.null == pytest.approx((truth == 1).mean())
        assert auc.estimate == pytest.approx(roc_auc_score(positive[cells], values[..., 1][cells]))
        assert tpr.estimate == pytest.approx(roc.tpr_at_fpr(values[..., 1][cells], positive[cells], FPRS)[0])
        assert auc.n == cells.sum()
    for inside, outside, between in zip(*found.values(), strict=True):
        assert between.estimate == pytest.approx(inside.estimate - outside.estimate)


def test_membership_that_adds_nothing_is_claimed_seldom_and_what_it_adds_is_found():
    claimed, held = 0, 0
    for seed in range(20):
        accuracy, auc, _ = judged(*posteriors(seed))["difference"]
        claimed += accuracy.detected
        held += auc.low <= 0 <= auc.high
        assert abs(accuracy.null) < 0.05
    assert claimed <= 3
    assert held >= 17
    found = [judged(*posteriors(seed, added=1.0))["difference"] for seed in range(3)]
    assert all(accuracy.detected and auc.detected for accuracy, auc, _ in found)


def test_a_table_that_tells_the_column_of_everybody_is_no_leak():
    """Both sides beat the base rate by far; the difference is nothing, and its interval, paired, is the narrower."""
    rng = np.random.default_rng(0)
    design, truth = balanced(rng, 32, 40), np.arange(40) % 2
    right = np.where(np.arange(40) % 8 > 1, truth, 1 - truth)[:, None] == np.arange(2)
    (members, *_), (others, *_), (between, *_) = judged(np.tile(right * 1.0, (32, 1, 1)), truth, design, rng).values()
    assert members.estimate == others.estimate == pytest.approx(0.75)
    assert members.low > members.null
    assert between.estimate == pytest.approx(0)
    assert not between.detected
    assert between.high - between.low < 0.6 * (members.high - members.low)


def test_with_two_bins_the_second_is_tested_and_with_more_the_most_frequent_one():
    values, truth, *_ = posteriors(0)
    assert (attribute_inference_results.guesses(values, truth, np.array([0.4, 0.6])).positive == (truth == 1)).all()
    values, truth, *_ = posteriors(0, bins=3)
    truth[:40] = 2
    said = attribute_inference_results.guesses(values, truth, np.array([0.7, 0.2, 0.1]))
    assert (said.positive == (truth == 2)).all()
    assert (said.score == values[..., 2]).all()
    assert said.base == pytest.approx((truth == 0).mean())


def test_the_band_of_the_members_is_the_curve_that_their_tpr_lies_on():
    values, truth, design, rng = posteriors(0, added=1.0)
    said = attribute_inference_results.guesses(values, truth, np.array([0.5, 0.5]))
    (tpr, low, high), (one, *_) = attribute_inference_results.band(
        said, design, np.array([0.1, 1.0]), rng=rng, replicates=40
    )
    assert tpr == pytest.approx(judged(values, truth, design, rng)["members"][2].estimate)
    assert low < tpr < high
    assert one == 1


def test_a_column_with_one_value_is_refused():
    values, truth, design, rng = posteriors(0)
    with pytest.raises(AuditError, match="one class"):
        judged(values, np.zeros_like(truth), design, rng)


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
    with pytest.raises(AuditError, match=f"only {largest} on one side"):
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
    assert (size.low, size.high) == (0, pytest.approx(1.959964**2 / (40 + 1.959964**2)))
    assert "two-way" not in auc.method


def answers(seed, effect=0.0, models=48, probes=30):
    """Answers that two things in the context move together, and a property each in its own way."""
    rng = np.random.default_rng(seed)
    shown = np.arange(models) % 2 == 1
    shared = rng.normal(size=(models, 2)) @ rng.normal(size=(2, probes)) * 2
    return shared + rng.normal(size=(models, probes)) + effect * shown[:, None] * rng.normal(size=probes), shown, rng


def test_the_property_is_found_and_only_the_property():
    claimed, held, areas = 0, 0, []
    for seed in range(12):
        values, shown, rng = answers(seed, models=32)
        (auc, _), band = property_inference.judge_property(
            values, shown, fprs=FPRS, rng=rng, replicates=60, permutations=19, roc_fprs=np.array([0.1, 1.0])
        )
        areas.append(auc.estimate)
        claimed += auc.detected
        assert 0 <= auc.low <= auc.estimate <= auc.high <= 1
        assert (band[:, 1] <= band[:, 0]).all()
        assert "widened" in auc.method
        held += auc.low <= 0.5 <= auc.high
    assert claimed <= 2
    assert held >= 10
    assert 0.42 < np.mean(areas) < 0.56
    planted = [roc.auc(property_inference.scores(*answers(seed, effect=1.2)), answers(seed)[1]) for seed in range(5)]
    assert min(planted) > 0.85


def test_more_public_records_than_sets_do_not_fool_the_discriminant():
    """Fitted and scored on the same 16 sets, noise on 100 records would give an AUC of 1."""
    drawn = [answers(seed, models=16, probes=100) for seed in range(20)]
    assert 0.35 < np.mean([roc.auc(property_inference.scores(*one), one[1]) for one in drawn]) < 0.6


def test_the_discriminant_weighs_by_the_covariance_that_the_kinds_share():
    """Two probes that move together: their difference tells the kinds apart, though neither does alone."""
    rng = np.random.default_rng(0)
    shown = np.arange(400) % 2 == 1
    noise = rng.normal(size=(400, 2)) / 10
    values = rng.normal(size=(400, 1)) + noise + shown[:, None] * np.array([0.3, 0.0])
    assert roc.auc(values[:, 0], shown) < 0.62
    covariance, gap = np.array([[1.01, 1.0], [1.0, 1.01]]), np.array([0.3, 0.0])
    exact = np.linalg.solve(covariance, gap)
    best = norm.cdf((gap @ exact / 2) ** 0.5)
    assert roc.auc(property_inference.scores(values, shown, rng), shown) == pytest.approx(best, abs=0.03)
    weights, middle = property_inference._discriminant(values, shown)
    assert weights @ exact > 0.99 * np.linalg.norm(weights) * np.linalg.norm(exact)
    assert middle == pytest.approx((values[shown].mean(0) + values[~shown].mean(0)) / 2)


def write_grids(folder, leak):
    """Grids of 24 sets, 60 members and 30 others, three classes: contexts of a main arm, of two shares, a column."""
    rng = np.random.default_rng(0)
    members, size, sets, classes = 60, 90, 24, 3
    label = rng.integers(classes, size=size)
    record = {name: ("record", values) for name, values in (("label", label), ("unit", np.arange(size)))}
    record |= {"member": ("record", np.arange(size) < members), "record": [f"r{i}" for i in range(size)]}
    design = np.concatenate([balanced(rng, sets, members), np.zeros((sets, size - members), bool)], axis=1)
    shown = np.arange(sets) % 2 == 1

    def passive(logits, counts, name, rows):
        model = {"variant": [name] * sets, "set": np.arange(sets), "shown": shown}
        coordinates = record | {key: ("model", np.asarray(values)[rows]) for key, values in model.items()}
        data = {"logits": (("model", "record", "class"), logits[rows]), "counts": (("model", "record"), counts[rows])}
        return xr.Dataset(data, coordinates, {"dataset": "toy"})

    logits = rng.normal(size=(sets, size, classes))
    logits[:, np.arange(size), label] += leak * design
    for shard, rows in enumerate((slice(0, 10), slice(10, sets))):
        write_grid(passive(logits, design.astype(np.uint8), "usual", rows), folder / f"main{shard}.nc")
    logits = rng.normal(size=(sets, size, classes))
    logits[..., 0] += leak * shown[:, None]
    logits[:, :members] = np.nan
    named = [(logits * 0, "usual"), (logits, "shares 0.5 0.7")]
    both = [passive(values, np.zeros_like(design, np.uint8), name, slice(None)) for values, name in named]
    write_grid(xr.concat(both, "model", data_vars="minimal"), folder / "settings.nc")
    inside, truth = design[:, :members], rng.integers(2, size=members)
    hit = np.repeat([0, 1], 2) == truth[:, None]
    logits = rng.normal(size=(sets, members, 4, classes))
    logits += (leak * inside[..., None] * hit)[..., None] * (label[:members, None] == np.arange(classes))[:, None]
    coordinates = {key: ("record", values[1][:members]) for key, values in record.items() if key != "record"}
    coordinates |= {"bin": ("level", [0, 0, 1, 1]), "prior": ("level", np.full(4, 0.25))}
    data = {"logits": (("model", "record", "level", "class"), logits), "design": (("model", "record"), inside)}
    write_grid(
        xr.Dataset(data | {"truth": ("record", truth)}, coordinates, {"dataset": "toy"}), folder / "attribute.nc"
    )


def asked(folder, **inputs):
    """What the script says of the folder's grids: expanded tidy results, and curves."""
    paths = Paths([str(folder / name) for name in ("tidy.parquet", "roc.parquet")])
    paths._named = dict(zip(("tidy", "roc"), paths, strict=True))
    inputs = {"main": ["main0.nc", "main1.nc"], "settings": ["settings.nc"], "attribute": ["attribute.nc"]} | inputs
    files = {name: [str(folder / path) for path in listed] for name, listed in inputs.items()}
    settings = {"sets": 20, "fpr": [0.1], "replicates": 30, "permutations": 19}
    settings["inference"] = {"corpora": [60, 12, 5], "trials": 20}
    job = SimpleNamespace(input=SimpleNamespace(get=files.get), output=paths, wildcards=SimpleNamespace(dataset="toy"))
    job.params = SimpleNamespace(seed=1, attacks=settings)
    assert load_script("attacks_infer_more").main(job) == {"seed": 1}
    return tuple(tidy.expand(pd.read_parquet(path)) for path in paths)


@pytest.mark.parametrize("leak", [0.0, 3.0])
def test_the_script_answers_three_questions_from_shards(tmp_path, leak):
    write_grids(tmp_path, leak)
    results, curves = asked(tmp_path)
    found = results[results.metric == "auc detected"].set_index(["question", "cells", "corpus", "variant"]).estimate
    assert len(found) == 4
    assert (found == bool(leak)).all()
    assert set(results.cells.dropna()) == {"members", "non-members", "difference"}
    assert set(results.corpus.dropna()) == {5, 12}
    power, size = (results[results.metric == name].set_index("corpus") for name in ("power", "size"))
    assert (power.estimate > 0.6).all() == bool(leak)
    assert (size.estimate < 0.3).all()
    assert (power.n == 20).all()
    assert set(curves.columns) >= {"dataset", "question", "fpr"}
    assert curves.groupby("question").size().to_dict() == {"attribute": 31, "data set": 31, "property": 31}
    assert not results[["low", "high"]][results.unit == "fraction"].isna().any(axis=None)


def test_a_table_without_the_variant_is_not_asked_about_a_property(tmp_path, capsys):
    write_grids(tmp_path, 0.0)
    results, _ = asked(tmp_path, settings=["main0.nc"])
    assert set(results.question) == {"attribute", "data set"}
    said = capsys.readouterr().out
    assert "property: no variant has `shares`" in said
    assert "a corpus of 60 records is larger" in said
