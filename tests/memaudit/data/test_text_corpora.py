"""Corpora of texts: what is read, cut, taken for a copy and dealt, and the traps that a blind classifier finds."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script
from random_texts import likeness, rng, sentences, table

from memaudit.common.errors import AuditError
from memaudit.data import text_corpora
from memaudit.data.near_duplicates import first_of_near_duplicates


def test_texts_are_pieces_in_succession_and_a_short_end_is_left_out():
    text = "  one two\n\nthree four five  six seven eight nine"
    found = text_corpora.cut(table([text, "a b"]), text_corpora.word_starts, 4, 2)
    assert found["text"].tolist() == ["one two\n\nthree four ", "five  six seven eight ", "a b"]
    assert text_corpora.cut(table([text]), text_corpora.word_starts, 2, 1)["text"].str.cat() == text.strip()


def test_case_and_spacing_make_no_other_text():
    found = text_corpora.without_duplicates(table(["A b  c d e f.", "a B c\nd e f.", " ", "another text"]), 0.25)
    assert found["text"].tolist() == ["A b  c d e f.", "another text"]
    assert first_of_near_duplicates([], 0.25).shape == (0,)


def test_no_part_holds_a_copy_of_a_text_of_another_part_or_corpus():
    one, other = sentences(30, "one"), sentences(30, "other")
    documents = {  # copies: within a pool, between pools, and of either in what is for pre-training
        "one": (table([*one[:20], one[0]]), table([*one[20:], one[3], other[5]])),
        "other": (table([*other[:20], one[1]]), table([*other[20:], other[6]])),
    }
    found = text_corpora.assemble(documents, text_corpora.word_starts, 40, 20, 0.25, rng())
    sizes = np.array([[len(side) for side in found[name]] for name in documents])
    assert sizes.sum(0).tolist() == [40, 20]  # of the copy in two pools a random one stays
    texts = [text for both in found.values() for side in both for text in side["text"]]
    assert max(likeness(a, b) for i, a in enumerate(texts) for b in texts[:i]) < 0.25


def test_documents_are_whole_on_one_side():
    documents = table(sentences(50, "documents"))
    first = text_corpora.for_pretraining(documents, 0.3, rng())
    size = documents["text"].str.len()
    assert size[first].sum() / size.sum() == pytest.approx(0.3, abs=0.03)
    with pytest.raises(AuditError, match="cannot be split"):
        text_corpora.for_pretraining(documents[:1], 0.5, rng())


def test_parts_have_their_sizes_and_a_small_pool_is_refused():
    sizes = {"member": 5, "nonmember": 6, "selection": 3, "pretraining": 4}
    pool, first = table(sentences(20, "pool")), table(sentences(9, "first"))
    dealt = text_corpora.assign_parts(pool, first, sizes, rng())
    assert dealt["part"].value_counts().to_dict() == sizes
    assert not dealt["text"].duplicated().any()
    assert set(dealt["text"][dealt["part"] == "pretraining"]) <= set(first["text"])
    with pytest.raises(AuditError, match="13 texts are left without duplicates, 14 are needed"):
        text_corpora.assign_parts(pool[:13], first, sizes, rng())


def test_members_are_dealt_anew_among_the_same_texts():
    sizes = {"member": 40, "nonmember": 60, "selection": 3, "pretraining": 4}
    dealt = text_corpora.assign_parts(table(sentences(110, "pool")), table(sentences(9, "first")), sizes, rng())
    dealt["id"] = [text_corpora.text_id(text, b"key") for text in dealt["text"]]
    fixed, anew = text_corpora.membership(dealt), text_corpora.membership(dealt, rng("other members"))
    assert fixed["text"][fixed["member"]].isin(dealt["text"][dealt["part"] == "member"]).all()
    assert anew["id"].tolist() == fixed["id"].tolist() == sorted(fixed["id"])
    assert anew["member"].sum() == fixed["member"].sum() == 40
    assert 10 < (anew["member"] & fixed["member"]).sum() < 24  # 16 are expected
    assert text_corpora.text_id("a", b"key") != text_corpora.text_id("a", b"other key")


@pytest.mark.parametrize(("shift", "fit"), [(0.0, True), (0.5, False)])
def test_non_members_of_another_corpus_are_flagged_and_random_ones_are_not(shift, fit):
    """The trap of benchmarks whose non-members are newer texts: an attack then finds the date, not the members."""
    script = load_script("ltmia_prepare_corpora")
    own, foreign = sentences(300, "own", words=300), sentences(300, "foreign", words=330)
    texts = table([*own, *(foreign if shift else sentences(300, "more of the same", words=300))])
    texts["part"] = ["member"] * 300 + ["nonmember"] * 300
    blind, told = script.described(SimpleNamespace(seed=1, replicates=200), "mine", texts, None)
    assert (told["metric"], told["estimate"]) == ("fit for attacks", fit)
    assert abs(blind["estimate"] - 0.5) < 0.06 if fit else blind["low"] > 0.7


def test_blind_scores_are_of_folds_that_have_not_seen_the_text():
    """Every text alone holds a word of its own: a classifier that had seen it would know all members."""
    texts = [f"{text} own{number}" for number, text in enumerate(sentences(200, "folds"))]
    member = np.arange(200) % 2 == 0
    scores = text_corpora.blind_scores(texts, member, 1)
    assert abs((scores[member][:, None] > scores[~member]).mean() - 0.5) < 0.12
