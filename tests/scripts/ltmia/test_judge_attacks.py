"""Results of all attacks: controls, and AUCs of the scores that they were computed from."""

import numpy as np
import pytest
from ltmia_pipeline import HELD_OUT, NULLS, TRAINING, TUNE

from memaudit.common import tidy
from memaudit.common.io import read_table
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.model_pair_queries import BASELINES
from memaudit.studies.ltmia.transfer_bootstrap import is_combination

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def results(made):
    return tidy.expand(read_table(made / "results.parquet"))


def test_an_untrained_target_gives_one_half_exactly(results):
    untrained = results[(results["role"] == "untrained") & (results["metric"] == "auc")].set_index("attack")
    for attack in ("lt_mia", "ref_loss", "ez", "ez_published"):
        assert untrained.loc[attack, ["estimate", "low", "high"]].tolist() == [0.5, 0.5, 0.5], attack
    assert abs(untrained.loc["loss", "estimate"] - 0.5) < 0.15


def test_every_target_has_a_blind_check_of_its_own_and_nulls_have_power(made, results):
    blind = results[(results["metric"] == "blind auc")]
    assert sorted(zip(blind["model"], blind["dataset"], blind["tuning"], strict=True)) == sorted(
        map(tuple, [*TRAINING, *HELD_OUT, *NULLS])
    )
    nulls = results[results["metric"] == "null p-value"]
    assert set(nulls["control"]) == {"untrained", "other_texts", "other_members"}
    assert set(nulls["attack"]) == {*BASELINES, *TUNE["baselines"]["names"], "lt_mia"}
    assert (nulls["estimate"] > 0.05).all()
    power = results[(results["metric"] == "detectable auc") & (results["attack"] == "loss")]
    assert power["estimate"].between(0.6, 0.9).all()


def test_the_null_of_the_attack_is_that_of_classifiers_of_shuffled_labels(results, made):
    null = results[results["control"] == "labels shuffled in training"].set_index("metric")
    known = read_table(made / "transformer.parquet")
    known = known[is_combination(known, HELD_OUT)]
    areas = [auc(known[f"shuffled {number}"].to_numpy(), known["member"].to_numpy()) for number in range(3)]
    assert null.loc["auc", "estimate"] == pytest.approx(np.mean(areas))
    assert null.loc["auc", "low"] <= 0.5 <= null.loc["auc", "high"]
    assert null.loc["smallest detectable auc", "estimate"] > 0.5
    assert (null["attack"] == "lt_mia").all()


def test_tprs_of_training_columns_have_the_rates_of_the_held_out_ones_or_say_too_few(results):
    """16 non-members of the test portion resolve no FPR of .05."""
    rates = results[(results["records"] == "training") & results["metric"].str.startswith("tpr@")]
    held_out = results[(results["records"] == "held out") & results["metric"].str.startswith("tpr@")]
    assert set(rates["metric"]) == set(held_out["metric"]) == {"tpr@0.05"}
    assert rates["estimate"].isna().all()
    assert rates["method"].str.startswith("too few: a combination has fewer than 20 non-members").all()
    assert held_out["estimate"].notna().all()


def test_all_attacks_are_judged_on_the_same_texts(made, combinations, results):
    table, _ = combinations["gpt2", "signs", "full"]
    known = read_table(made / "transformer.parquet")
    learned = known["score"][is_combination(known, HELD_OUT)].to_numpy()
    member = table["member"].to_numpy()
    rows = results[(results["role"] == "held out") & results["model"].notna() & (results["metric"] == "auc")]
    observed = rows.set_index("attack")["estimate"]
    for name in BASELINES:
        assert observed[name] == pytest.approx(auc(table[name].to_numpy(), member)), name
    assert observed["lt_mia"] == pytest.approx(auc(learned, member))
    lead = results[(results["attack"] == "lt_mia - ez") & (results["metric"] == "auc difference")]
    np.testing.assert_allclose(lead["estimate"], observed["lt_mia"] - observed["ez"])
    printed = results[results["source"] == "paper"]
    assert printed["estimate"].tolist() == [0.945]
