"""Corpora of texts: what is read, cut, taken for a copy and assigned, and how many texts a document may have."""

import numpy as np
import pytest
from random_texts import likeness, rng, sentences, table

from memaudit.common.errors import AuditError
from memaudit.data import text_corpora
from memaudit.data.near_duplicates import first_of_near_duplicates, overlap

RULES = {"most": 10, "documents": 1, "overlap": 0.5}


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
    dealt = text_corpora.assign_parts(pool, first, sizes, rng(), **RULES)
    assert dealt["part"].value_counts().to_dict() == sizes
    assert not dealt["text"].duplicated().any()
    assert set(dealt["text"][dealt["part"] == "pretraining"]) <= set(first["text"])
    with pytest.raises(AuditError, match=r"13 texts are left without duplicates .* 14 are needed"):
        text_corpora.assign_parts(pool[:13], first, sizes, rng(), **RULES)


def test_members_are_dealt_anew_among_the_same_texts():
    sizes = {"member": 40, "nonmember": 60, "selection": 3, "pretraining": 4}
    dealt = text_corpora.assign_parts(
        table(sentences(110, "pool")), table(sentences(9, "first")), sizes, rng(), **RULES
    )
    dealt["id"] = [text_corpora.text_id(text, b"key") for text in dealt["text"]]
    fixed, anew = text_corpora.membership(dealt), text_corpora.membership(dealt, rng("other members"))
    assert fixed["text"][fixed["member"]].isin(dealt["text"][dealt["part"] == "member"]).all()
    assert anew["id"].tolist() == fixed["id"].tolist() == sorted(fixed["id"])
    assert anew["member"].sum() == fixed["member"].sum() == 40
    assert 10 < (anew["member"] & fixed["member"]).sum() < 24  # 16 are expected
    assert text_corpora.text_id("a", b"key") != text_corpora.text_id("a", b"other key")


def test_a_target_trains_on_its_members_on_those_of_another_draw_or_on_other_texts():
    sizes = {"member": 40, "nonmember": 60, "selection": 3, "pretraining": 50}
    dealt = text_corpora.assign_parts(
        table(sentences(110, "pool")), table(sentences(60, "first")), sizes, rng(), **RULES
    )
    dealt["id"] = [text_corpora.text_id(text, b"key") for text in dealt["text"]]
    attacked = text_corpora.membership(dealt, rng("members"))
    members = set(attacked["text"][attacked["member"]])
    kinds = ("members", "other members", "other texts")
    seen = {which: text_corpora.trained_on(dealt, attacked, which, rng("training")) for which in kinds}
    assert {which: (len(own), own.nunique()) for which, own in seen.items()} == dict.fromkeys(kinds, (40, 40))
    assert set(seen["members"]) == members
    assert set(seen["other members"]) <= set(attacked["text"])
    assert 10 < len(members & set(seen["other members"])) < 24  # 16 are expected
    assert set(seen["other texts"]) <= set(dealt["text"][dealt["part"] == "pretraining"])
    without = dealt[dealt["part"] != "pretraining"]
    with pytest.raises(AuditError, match="no other texts to train on; set ltmia/texts/parts/pretraining"):
        text_corpora.trained_on(without, attacked, "other texts", rng())


def test_no_document_has_more_than_a_few_of_the_texts():
    """One file with half of all texts, as numpy's _add_newdocs.py was in a corpus of code."""
    sizes = {"member": 40, "nonmember": 40, "selection": 10, "pretraining": 4}
    texts = table(sentences(240, "planted", words=3000))
    texts.loc[:119, "document"] = "large"
    first = table(sentences(9, "first"))
    dealt = text_corpora.assign_parts(texts, first, sizes, rng(), **RULES | {"most": 2})
    attacked = dealt["document"][dealt["part"].isin(["member", "nonmember"])]
    assert attacked.value_counts().max() <= 2
    count, effective = text_corpora.documents_of(attacked)
    assert count == attacked.nunique() >= 79
    assert effective >= count - 1
    loose = text_corpora.assign_parts(texts, first, sizes, rng(), **RULES | {"most": 1000})
    attacked = loose["document"][loose["part"].isin(["member", "nonmember"])]
    assert text_corpora.documents_of(attacked)[1] < 6
    with pytest.raises(AuditError, match=r"come from \d+ documents, 100 are needed; give the corpus more characters"):
        text_corpora.assign_parts(texts, first, sizes, rng(), **RULES | {"most": 2, "documents": 100})
    with pytest.raises(AuditError, match=r"81 texts are left .* at most 1 a document, 90 are needed"):
        text_corpora.assign_parts(texts[:200], first, sizes, rng(), **RULES | {"most": 1})


def test_texts_of_runs_of_others_are_left_out():
    """Each is a near duplicate of none of the three that it is pieced together from."""
    sizes = {"member": 20, "nonmember": 20, "selection": 1, "pretraining": 1}
    own = sentences(60, "own", words=3000, length=45)
    pieced = [" ".join(" ".join(own[(i + k) % 60].split()[15 * k : 15 * k + 15]) for k in range(3)) for i in range(60)]
    texts = table([*own, *pieced])
    dealt = text_corpora.assign_parts(texts, table(sentences(3, "first")), sizes, rng(), **RULES)
    kept = dealt["text"][dealt["part"] != "pretraining"].tolist()
    assert len(kept) == 41
    loose = text_corpora.assign_parts(texts, table(sentences(3, "first")), sizes, rng(), **RULES | {"overlap": 1.0})
    loosely = loose["text"][loose["part"] != "pretraining"].tolist()
    assert overlap(kept).mean() < 0.8 * overlap(loosely).mean()


@pytest.mark.parametrize(
    ("attacked", "share", "texts", "most"),
    [(500, 0.02, 10, 10), (200, 0.02, 10, 4), (20000, 0.02, 10, 10), (9, 0.02, 10, 1)],
)
def test_a_document_has_a_share_of_the_texts_but_not_more_than_a_number(attacked, share, texts, most):
    assert text_corpora.most_per_document(attacked, share, texts) == most


def test_documents_are_effectively_as_many_as_have_equal_shares():
    assert text_corpora.documents_of(list("aabbcc")) == (3, pytest.approx(3))
    assert text_corpora.documents_of(["a"] * 251 + [str(n) for n in range(249)])[1] == pytest.approx(3.95, abs=0.01)
