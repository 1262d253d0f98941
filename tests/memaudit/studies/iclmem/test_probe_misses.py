"""Settings that the in-context loss detects and the probe misses, against what the probe could have detected."""

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, load
from simulated_runs import judged

from memaudit.claims.headlines import Headline, state
from memaudit.common import tidy
from memaudit.studies.iclmem.probe_misses import mean_aucs, probe_misses
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, PROBED, SIGNALS
from memaudit.workflow.study_catalogue import prepare


def counts(in_context, probe, auc, detectable=0.7, permuted=None):
    lines = pd.DataFrame({"dataset": "wine", "labels": ["canaries"] * len(auc)})
    table = pd.DataFrame({"auc": auc, "detectable": detectable, "detected": probe})
    decided = dict.fromkeys(PROBED, table) | {IN_CONTEXT: table.assign(detected=in_context)}
    by_chance = np.zeros((len(SIGNALS), len(auc), 10), bool) if permuted is None else permuted
    return list(probe_misses(lines, decided, by_chance))


def rows(in_context, probe, auc, detectable=0.7, permuted=None):
    """Rows of settings of one data set; in_context, probe: whether each detects it; auc: in context."""
    found = tidy.expand(tidy.frame(counts(in_context, probe, auc, detectable, permuted)))
    return found.set_index("metric").loc[["missed by the probe", "seen by the probe"]].to_dict("records")


def test_a_setting_is_missed_where_a_smaller_auc_than_in_context_would_have_been_detected():
    missed, seen = rows([True] * 3, [False, False, True], [0.9, 0.65, 0.9])
    assert (missed["estimate"], missed["n"], missed["probe"], missed["null"]) == (1, 3, "misses", 0)
    assert (seen["estimate"], seen["n"], seen["probe"]) == (1, 3, "misses")
    missed, seen = rows([True] * 2, [True, False], [0.9, 0.65])
    assert (missed["estimate"], seen["estimate"], missed["probe"]) == (0, 1, "misses none")


def test_what_is_not_detected_in_context_cannot_be_missed():
    lines = pd.DataFrame({"dataset": "wine", "labels": ["canaries"]})
    nothing = pd.DataFrame({"auc": [0.9], "detectable": [0.6], "detected": [False]})
    assert not list(probe_misses(lines, dict.fromkeys(SIGNALS, nothing), np.zeros((len(SIGNALS), 1, 10), bool)))


def test_the_null_counts_settings_that_permuted_memberships_would_call_missed():
    permuted = np.zeros((len(SIGNALS), 1, 10), bool)
    permuted[SIGNALS.index(IN_CONTEXT), 0, :3] = True
    permuted[SIGNALS.index("entropy"), 0, :1] = True
    missed, seen = rows([True], [False], [0.9], permuted=permuted)
    assert (missed["null"], seen["null"]) == pytest.approx((0.2, 0.1))


def test_the_mean_auc_is_over_all_settings_that_no_split_lost_and_the_difference_is_paired():
    runs = judged(fall=3.0).runs
    lost = runs.assign(diverged=(runs["epoch"] == 10) & (runs["split"] == 0))
    found = tidy.expand(tidy.frame(list(mean_aucs(lost)))).set_index(["metric", "signal"])
    first = runs[runs["epoch"] == 1]
    for signal in SIGNALS:
        mean = found.loc[("mean auc", signal)]
        assert mean["estimate"] == pytest.approx(first[f"query_{signal}_auc"].mean())
        assert (mean["n"], mean["null"]) == (5, 0.5)
        assert found.loc[("smallest detectable mean auc", signal), "estimate"] >= 0.5
    gap = first["query_loss_auc"] - first[f"query_{IN_CONTEXT}_auc"]
    assert found.loc[("mean auc less in-context", "loss"), "estimate"] == pytest.approx(gap.mean())
    assert ("mean auc less in-context", IN_CONTEXT) not in found.index
    assert not list(mean_aucs(runs.assign(diverged=True)))


SAYS = {(False, False): "the probe misses planted canaries. Of 2", (True, True): "is not shown to miss"}


@pytest.mark.parametrize(("probe", "says"), SAYS.items())
def test_the_main_results_say_whether_the_probe_misses_planted_canaries(probe, says):
    runs = judged(fall=0.1).runs.assign(labels="canaries")
    results = tidy.frame([*counts([True, True], probe, [0.9, 0.9]), *mean_aucs(runs)])
    sentences = prepare(load("config"), PROJECT)[2]["iclmem"].headlines["sentences"]
    stated = state("iclmem", [Headline.model_validate(one) for one in sentences], results)
    (sentence,) = stated["sentence"].unique()
    assert says in sentence
    assert f"{results[results['metric'] == 'mean auc']['estimate'].iloc[0]:.3g} [" in sentence
