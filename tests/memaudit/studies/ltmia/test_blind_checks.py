"""Every target is checked with its own members: a corpus whose words tell them is unfit, others of the run are not."""

import numpy as np
import pandas as pd
import pytest
from random_texts import rng, sentences

from memaudit.common import tidy
from memaudit.studies.ltmia.blind_checks import MOST_TEXTS, adjusted, blind_checks, blind_rows, unfit

COUNT = 120


def made():
    """Targets of three models: random members in one corpus, and for one model those of another vocabulary."""
    texts, scores = [], []
    for dataset, words in (("plain", 300), ("moved", 300)):
        own = sentences(COUNT // 2, f"{dataset} one", words) + sentences(COUNT // 2, f"{dataset} two", words + 40)
        ids = [f"{dataset}{number:04d}" for number in range(COUNT)]
        texts.append(pd.DataFrame({"dataset": dataset, "id": ids, "text": own}))
        for model in ("a", "b", "c"):
            fixed = dataset == "moved" and model == "c"
            member = np.arange(COUNT) < COUNT // 2
            member = member if fixed else rng(f"{dataset} {model}").permutation(member)
            one = pd.DataFrame({"model": model, "dataset": dataset, "tuning": "full", "id": ids, "member": member})
            scores.append(one.sample(frac=1, random_state=1))
    return pd.concat(scores, ignore_index=True), pd.concat(texts, ignore_index=True)


@pytest.fixture(scope="module")
def checks():
    return blind_checks(*made(), seed=1)


def test_a_target_whose_members_words_tell_is_unfit_and_the_corpus_is_not(checks):
    assert unfit(checks) == [("c", "moved", "full")]
    assert len(checks) == 6
    assert checks["c", "moved", "full"].auc > 0.8
    assert all(adjusted(checks)[name] >= one.p_value for name, one in checks.items())


def test_members_in_reverse_are_unfit_too():
    scores, texts = made()
    chosen = (scores["model"] == "c") & (scores["dataset"] == "moved")
    scores.loc[chosen, "member"] = ~scores.loc[chosen, "member"]
    assert unfit(blind_checks(scores, texts, seed=1)) == [("c", "moved", "full")]


def test_rows_are_of_targets_and_of_corpora(checks):
    table = tidy.expand(tidy.frame(blind_rows(checks)))
    of_target = table[table["model"].notna()].set_index(["metric", "dataset", "model"])
    assert of_target.loc[("fit for attacks", "moved", "c"), "estimate"] == 0
    assert of_target.loc["fit for attacks"]["estimate"].sum() == 5
    assert of_target.loc[("blind auc", "moved", "c"), "low"] > 0.6
    of_corpus = table[table["model"].isna()].set_index(["metric", "dataset"])
    assert of_corpus.loc["unfit targets", "estimate"].tolist() == [0, 1]
    assert of_corpus.loc["unfit targets", "n"].tolist() == [3, 3]
    means = of_target.loc[("blind auc", "plain"), "estimate"].mean()
    assert of_corpus.loc[("mean blind auc", "plain"), "estimate"] == pytest.approx(means)
    assert 0.6 < of_corpus.loc[("detectable blind auc", "plain"), "estimate"] < 0.95
    assert MOST_TEXTS >= COUNT
