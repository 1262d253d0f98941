"""Corpora of texts: what is read, cut, taken for a copy and dealt, and the traps that a blind classifier finds."""

import ast
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script

from memaudit import seeds
from memaudit.data import text_corpora
from memaudit.data.corpus_documents import documents_of, read_texts
from memaudit.data.near_duplicates import WORD, first_of_near_duplicates
from memaudit.errors import AuditError

PACKAGE = {"source": "package", "package": "quiet", "content": "text", "characters": None}
MODULE = '''"""The module that raises when it is imported, so that nobody imports it."""
raise RuntimeError  # a comment


def halve(x):
    """Divide by two, and say so in a docstring that is long enough."""
    return x / 2  # another comment
'''


@pytest.fixture
def quiet(tmp_path, monkeypatch):
    """An installed package that cannot be imported."""
    files = {"quiet/__init__.py": MODULE, "quiet/template.py": "{{ name }} = $", "quiet/tests/test_it.py": MODULE}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    facts = tmp_path / "quiet-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: quiet\nVersion: 1.2\n")
    (facts / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def rng(name="a test"):
    return seeds.generator(1, name)


def sentences(count, name, words=400, length=40):
    """Texts of random words; no two share a run of five but by a planted copy."""
    draw = rng(name)
    return [" ".join(f"w{word}" for word in draw.integers(words, size=length)) for _ in range(count)]


def table(texts, per_document=1):
    return pd.DataFrame({"document": [str(i // per_document) for i in range(len(texts))], "text": texts})


def shingles(text):
    words = WORD.findall(text.lower())
    return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}


def likeness(one, other):
    one, other = shingles(one), shingles(other)
    return len(one & other) / len(one | other)


def by_brute_force(texts, least):
    kept = []
    for text in texts:
        kept.append(all(likeness(text, other) < least for other, good in zip(texts, kept, strict=False) if good))
    return kept


def test_a_package_is_read_from_its_files_and_never_imported(quiet):
    found, facts = documents_of(PACKAGE, rng())
    assert "quiet" not in sys.modules
    assert found["text"].tolist() == [
        "The module that raises when it is imported, so that nobody imports it.\n\n"
        "Divide by two, and say so in a docstring that is long enough."
    ]
    assert found["document"].tolist() == ["quiet/__init__.py"]  # neither the tests nor what is no Python
    assert (facts["origin"], facts["documents"], len(facts["sha256"])) == ("text of quiet 1.2", 1, 64)


def test_code_has_neither_docstrings_nor_comments(quiet):
    code = documents_of(PACKAGE | {"content": "code"}, rng())[0]["text"][0]
    assert code == "raise RuntimeError\n\ndef halve(x):\n    return x / 2"
    assert ast.parse(code)


def test_other_contents_than_the_recorded_ones_are_refused(quiet):
    known = documents_of(PACKAGE, rng())[1]["sha256"]
    assert documents_of(PACKAGE | {"sha256": known}, rng("another order"))[1]["sha256"] == known
    (quiet / "quiet/__init__.py").write_text(MODULE.replace("two", "three"))
    with pytest.raises(AuditError, match="sha256 of its contents"):
        documents_of(PACKAGE | {"sha256": known}, rng())


def test_reading_stops_at_so_many_characters_in_a_random_order_of_the_seed(tmp_path):
    path = tmp_path / "texts.csv"
    table(sentences(40, "documents")).to_csv(path, index=False)
    entry = {"source": "file", "path": str(path), "text_columns": ["text"], "characters": 1000}
    found, facts = documents_of(entry, rng("order"))
    assert 1000 <= facts["characters"] < 1000 + 250
    assert found.equals(documents_of(entry, rng("order"))[0])
    assert set(found["text"]) != set(documents_of(entry, rng("another"))[0]["text"])


def test_texts_come_from_lines_rows_and_folders(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\n  \ntwo\n", encoding="utf-8")
    assert read_texts(tmp_path / "a.txt").values.tolist() == [["1", "one"], ["2", "two"]]
    assert read_texts(tmp_path).values.tolist() == [["a.txt", "one\n\n  \ntwo\n"]]
    rows = pd.DataFrame({"head": ["NA", "b"], "body": ["1\n2", ""]})
    rows.to_csv(tmp_path / "b.csv", index=False)
    rows.to_parquet(tmp_path / "b.parquet")
    rows.to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    for name in ("b.csv", "b.parquet", "b.jsonl"):
        assert read_texts(tmp_path / name, ["head", "body"])["text"].tolist() == ["NA\n1\n2", "b\n"], name


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.txt", None, "No such file"),
        ("latin.txt", "naïve".encode("latin-1"), "UTF-8"),
        ("x.csv", b"other\n1\n", "no column 'text', there are other"),
        ("x.docx", b"", "texts are read from .txt"),
        ("x.parquet", b"no parquet", "no texts can be read"),
    ],
)
def test_a_file_without_texts_is_refused_in_one_line(tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(AuditError, match=said) as error:
        read_texts(tmp_path / name)
    assert "\n" not in str(error.value)


def test_without_a_network_a_corpus_of_the_hub_says_so():
    entry = {"source": "hub", "name": "fancyzhx/ag_news", "text_columns": ["text"], "characters": None}
    with pytest.raises(AuditError, match=r"corpus fancyzhx/ag_news: cannot be fetched .*`source: file`"):
        documents_of(entry, rng())


def test_of_the_hub_no_more_files_are_read_than_are_needed(tmp_path, monkeypatch):
    asked = []

    def download(name, file, **_):
        asked.append(file)
        path = tmp_path / "part.parquet"
        pd.DataFrame({"text": sentences(5, file), "label": 1}).to_parquet(path)
        return path

    files = [
        f"{folder}/{number:04d}.parquet" for folder in ("big/train", "big/test", "small/train") for number in (0, 1)
    ]
    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", lambda *_, **__: files)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    entry = {"source": "hub", "name": "a/b", "subset": "big", "text_columns": ["text"], "characters": 500}
    assert len(documents_of(entry, rng())[0]) == 3
    assert asked == ["big/train/0000.parquet"]
    assert len(documents_of(entry | {"characters": None}, rng())[0]) == 10


def test_texts_are_pieces_in_succession_and_a_short_end_is_left_out():
    text = "  one two\n\nthree four five  six seven eight nine"
    found = text_corpora.cut(table([text, "a b"]), text_corpora.word_starts, 4, 2)
    assert found["text"].tolist() == ["one two\n\nthree four ", "five  six seven eight ", "a b"]
    assert text_corpora.cut(table([text]), text_corpora.word_starts, 2, 1)["text"].str.cat() == text.strip()


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
