"""Corpora: parts, near-duplicates, and documents."""

import pytest
from ltmia_pipeline import CORPORA, CUT, PARTS, PREPARE, call

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table
from memaudit.data.text_corpora import documents_of

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_corpus_has_its_parts_and_documents(made):
    texts, rows = read_table(made / "texts.parquet"), tidy.expand(read_table(made / "corpora.parquet"))
    for name in CORPORA:
        own = rows[rows["dataset"] == name].set_index("metric")["estimate"]
        of_corpus = texts[texts["dataset"] == name]
        assert of_corpus["part"].value_counts().to_dict() == PARTS
        attacked = of_corpus["document"][of_corpus["part"].isin(["member", "nonmember"])]
        assert (own["documents"], own["effective documents"]) == documents_of(attacked)
        assert attacked.value_counts().max() <= 4  # 5 % of 80 texts
        assert own["texts without copies"] >= sum(PARTS.values())
        assert own["shared runs of words"] == 0
    own = texts[texts["dataset"] != "moved"]
    assert not own["id"].duplicated().any()
    of, first = own["dataset"] + own["document"], own["part"] == "pretraining"
    assert first.any()
    assert not set(of[first]) & set(of[~first])


def test_a_corpus_of_few_documents_is_refused_with_its_name(made, tmp_path):
    inputs = [f"key={made}/id.key", *(f"documents={made}/{name}.parquet" for name in CORPORA)]
    outputs = [f"{name}={tmp_path}/{name}" for name in ("texts", "tokenizer", "config", "results")]
    params = PREPARE | {"texts": CUT | {"parts": PARTS, "documents": 100}}
    with pytest.raises(
        AuditError, match=r"corpus letters: its members and non-members come from .* documents, 100 are"
    ):
        call("ltmia_prepare_corpora", inputs, outputs, tmp_path, params)


def test_a_shifted_corpus_has_non_members_from_elsewhere(made):
    moved = read_table(made / "texts.parquet")
    moved = moved[moved["dataset"] == "moved"]
    for part, sign in (("nonmember", "l"), ("member", "s"), ("selection", "s")):
        letters = moved["text"][moved["part"] == part].str.replace(r"[\d\s]", "", regex=True)
        assert set("".join(letters)) == {sign}
