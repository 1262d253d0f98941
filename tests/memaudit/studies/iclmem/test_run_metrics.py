"""Metrics of one run: groups, permutations that a split shares, and flags."""

import numpy as np
import pytest
from simulated_runs import IDS, MANIPULATIONS, MEMBERS, PAIR, ROLES, draws, run

from memaudit.statistics import roc
from memaudit.studies.iclmem.run_metrics import judge_run, split_draws


def test_the_in_context_loss_is_that_of_the_labels_of_the_fine_tuning():
    rng = np.random.default_rng(0)
    one = run(0.0, rng)
    known = one._replace(relabelled=one.relabelled - 0.5 * (ROLES == "query")[:, None] * [1, 0, 0, 0])
    observed, _ = judge_run(known, draws(), (0.1,))
    assert observed["query_in-context loss_auc"] == 1.0
    assert abs(observed["query_loss_auc"] - 0.5) < 0.25
    plain, _ = judge_run(one, draws(), (0.1,))
    assert plain["query_in-context loss_auc"] == 0.5  # nothing changed: all are tied


def test_draws_of_a_record_depend_on_its_split_and_not_on_its_position():
    one = draws()
    order = np.random.default_rng(0).permutation(len(IDS))
    other = split_draws(IDS[order], PAIR[order], "wine", 0, seed=0, permutations=99, replicates=20)
    for name in ("swaps", "priorities", "weights"):
        assert np.array_equal(getattr(one, name)[:, order], getattr(other, name))
    assert np.array_equal(one.weights[:, :MEMBERS], one.weights[:, MEMBERS:]), "a pair is resampled as one"
    assert not np.array_equal(one.swaps, draws(split=1).swaps)


def test_all_runs_of_a_split_are_permuted_alike():
    rng = np.random.default_rng(0)
    one = run(0.5, rng)
    monotone = one._replace(tuned=3 * one.tuned, reference=3 * one.reference)  # another model, the same ranking
    observed = [judge_run(each, draws(), (0.1,))[1]["permuted"] for each in (one, monotone)]
    assert np.array_equal(*observed)
    other = judge_run(one, draws(split=1), (0.1,))[1]["permuted"]
    assert not np.allclose(observed[0], other)


def test_facts_and_arrays_of_a_run_agree():
    rng = np.random.default_rng(0)
    one = run(0.02, rng)
    role = ROLES.copy()
    role[:10] = "context"
    one = one._replace(query=role == "query", context=role == "context")
    observed, arrays = judge_run(one, draws(), (0.1,))
    delta = -(one.tuned - one.reference).mean(1)[:, 0]
    assert observed["query_loss_auc"] == pytest.approx(roc.auc(delta[10:], role[10:] == "query"))
    beside = (role == "context") | (role == "nonmember")
    assert observed["context_loss_auc"] == pytest.approx(roc.auc(delta[beside], (role == "context")[beside]))
    assert (observed["query_targets"], observed["context_targets"], observed["nonmember_targets"]) == (40, 10, 50)
    assert arrays["observed"][0] == pytest.approx(observed["query_loss_auc"])
    assert observed["query_loss_auc_low"] < observed["query_loss_auc"] < observed["query_loss_auc_high"]
    assert arrays["alone"].shape == (3, MANIPULATIONS)
    of_first = draws().on(role != "context").permuted(one.query[10:])[0]
    probed = one.tuned[10:, :, 0].mean(1)
    assert arrays["permuted_gap"][0] == pytest.approx(probed[of_first].mean() - probed[~of_first].mean())
    assert observed["mu_gap"] == pytest.approx(one.tuned[10:50, :, 0].mean() - one.tuned[50:, :, 0].mean())
    raw = roc.tpr_at_fpr(-one.tuned.mean(1)[10:, 0], role[10:] == "query", 0.1)
    assert observed["raw_tpr"] == pytest.approx(float(raw))
    larger = arrays["permuted"][:2].max(0)
    assert observed["larger_p"] == (1 + (larger >= observed["larger_auc"] - 1e-9).sum()) / 100
    assert observed["larger_p"] != observed["loss_p"]


def test_raw_flags_are_counted_under_permuted_memberships_too():
    one = run(3.0, np.random.default_rng(0))
    _, arrays = judge_run(one, draws(), (0.1,))
    members = draws().permuted(one.query)
    assert len(arrays["permuted_raw"]) == 20
    for name, values in (("raw", one.tuned), ("reference", one.reference)):
        for place, observed in enumerate(arrays[f"permuted_{name}"]):
            assert observed == pytest.approx(float(roc.tpr_at_fpr(-values.mean(1)[:, 0], members[place], 0.1)))
