"""Near duplicates are those of a search by brute force."""

import numpy as np
import pytest
from random_texts import likeness, rng, sentences, shingles, table

from memaudit.data import text_corpora
from memaudit.data.near_duplicates import first_of_near_duplicates, little_overlap, overlap


def by_brute_force(texts, least):
    kept = []
    for text in texts:
        kept.append(all(likeness(text, other) < least for other, good in zip(texts, kept, strict=False) if good))
    return kept


def test_near_duplicates_are_those_of_brute_force():
    texts = sentences(60, "originals")
    for number in range(0, 60, 2):  # copies with up to sixteen of their forty words changed, at the end
        words = texts[number].split()
        changed = number % 17
        texts.append(
            " ".join(words[: 40 - changed] + sentences(1, f"change {number}", length=changed + 1)[0].split()[1:])
        )
    texts = [texts[i] for i in rng().permutation(len(texts))]
    for least in (0.3, 0.6, 0.9):
        found = first_of_near_duplicates(texts, least).tolist()
        assert found == by_brute_force(texts, least)
        assert 60 <= sum(found) < 90
    assert sum(first_of_near_duplicates(texts, 0.3)) < sum(first_of_near_duplicates(texts, 0.9))


def test_a_text_that_is_like_one_that_was_left_out_stays():
    words = sentences(1, "chain", words=5000, length=80)[0].split()
    chain = [" ".join(words[start : start + 40]) for start in (0, 15, 30)]
    assert likeness(chain[0], chain[2]) < 0.25 < min(likeness(*chain[:2]), likeness(*chain[1:]))
    assert first_of_near_duplicates(chain, 0.25).tolist() == [True, False, True]


def test_a_passage_that_is_cut_elsewhere_is_found():
    passage = sentences(1, "passage", words=5000, length=400)[0]
    for shift in (7, 20, 33):
        moved = " ".join([*sentences(1, "before", words=5000, length=shift)[0].split(), passage])
        cuts = [
            text_corpora.cut(table([text]), text_corpora.word_starts, 40, 20)["text"].tolist()
            for text in (passage, moved)
        ]
        kept = first_of_near_duplicates([*cuts[0], *cuts[1]], 0.25)
        assert kept[: len(cuts[0])].all()
        assert kept[len(cuts[0]) + 1 :].sum() <= 1  # the first is of what stands before, the last may be an end


def test_the_overlap_of_a_text_is_its_share_of_runs_in_other_texts():
    texts = ["a b c d e f g", "a b c d e x y z", "1 2 3 4 5 6", "1 2 3 4 5 6", "q w e r t y", ""]
    np.testing.assert_allclose(overlap(texts), [1 / 3, 1 / 4, 1, 1, 0, 0])
    for number, text in enumerate(texts):
        elsewhere = set().union(*(shingles(other) for place, other in enumerate(texts) if place != number))
        own = shingles(text)
        assert overlap(texts)[number] == pytest.approx(len(own & elsewhere) / len(own))
    assert overlap([]).shape == (0,)


def test_texts_are_kept_while_few_of_their_runs_stand_in_those_before():
    texts = ["a b c d e f g", "a b c d e x y z", "1 2 3 4 5 6", "0 1 2 3 4 5 6"]
    assert little_overlap(texts, 0.5).tolist() == [True, True, True, False]
    assert little_overlap(texts, 0.2).tolist() == [True, False, True, False]
    assert little_overlap(texts[::-1], 0.5).tolist() == [True, False, True, True]
