"""Corpora: parts, near-duplicates, and the blind check."""

import pytest
from ltmia_pipeline import (
    CORPORA,
    PARTS,
)

from memaudit.common import tidy
from memaudit.common.io import read_table

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_corpus_has_its_parts_and_a_blind_check(made):
    texts, rows = read_table(made / "texts.parquet"), tidy.expand(read_table(made / "corpora.parquet"))
    for name in CORPORA:
        own = rows[rows["dataset"] == name].set_index("metric")
        assert texts[texts["dataset"] == name]["part"].value_counts().to_dict() == PARTS
        blind = own.loc["blind auc"]
        assert own.loc["fit for attacks", "estimate"] == (blind["low"] <= 0.5)
        assert own.loc["texts without copies", "estimate"] >= sum(PARTS.values())
    own = texts[texts["dataset"] != "moved"]
    assert not own["id"].duplicated().any()
    of, first = own["dataset"] + own["document"], own["part"] == "pretraining"
    assert first.any()
    assert not set(of[first]) & set(of[~first])


def test_a_corpus_with_non_members_from_elsewhere_is_found_unfit(made):
    texts, rows = read_table(made / "texts.parquet"), tidy.expand(read_table(made / "corpora.parquet"))
    own = rows[rows["dataset"] == "moved"].set_index("metric")["estimate"]
    assert own["blind auc"] > 0.9
    assert own["fit for attacks"] == 0
    moved = texts[texts["dataset"] == "moved"]
    for part, sign in (("nonmember", "l"), ("member", "s"), ("selection", "s")):
        letters = moved["text"][moved["part"] == part].str.replace(r"[\d\s]", "", regex=True)
        assert set("".join(letters)) == {sign}
