"""Documents of packages, files and the hub: read without an import, checked, and refused in one line."""

import ast
import sys

import pandas as pd
import pytest
from random_texts import rng, sentences, table

from memaudit.common.errors import AuditError
from memaudit.data.corpus_documents import documents_of, read_texts, whole_documents

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


TEXTS_IN_CODE = (
    '''
def documented(name="a short name", *, lines="one\\ntwo"):
    """A docstring."""
    add("array", '''
    + '"""'
    + """
        Text inside of a call: most of a corpus, in one file of numpy.
        """
    + '"""'
    + """, key=b"bytes that are as long as a sentence of forty")
    log(f"{name} has a value that is {lines} and this is a message as long as a sentence")
    "a statement that is a text alone"
    for one in range(3):
        "another"
    return {"key": name, "format": "%s: %d"}
"""
)


def test_code_has_no_long_strings_wherever_they_stand(quiet):
    (quiet / "quiet/__init__.py").write_text(TEXTS_IN_CODE)
    code = documents_of(PACKAGE | {"content": "code"}, rng())[0]["text"][0]
    assert ast.parse(code)
    for word in ("docstring", "Text inside", "bytes that", "sentence", "a text alone", "another", "one\\ntwo"):
        assert word not in code
    for kept in ("'a short name'", "'key'", "'%s: %d'", "add('array', '', key=b'')", "pass"):
        assert kept in code


def test_of_a_long_document_an_excerpt_is_read(tmp_path):
    path, texts = tmp_path / "texts.csv", sentences(30, "documents")
    table(texts).to_csv(path, index=False)
    entry = {"source": "file", "path": str(path), "text_columns": ["text"], "characters": None}
    found = documents_of(entry | {"document_characters": 60}, rng())[0]
    whole = dict(zip(map(str, range(1, 31)), texts, strict=True))
    assert set(found["text"].str.len()) == {60}
    assert all(text in whole[name] for name, text in found.itertuples(index=False))
    assert not all(whole[name].startswith(text) for name, text in found.itertuples(index=False))
    assert found.equals(documents_of(entry | {"document_characters": 60}, rng())[0])
    assert documents_of(entry | {"document_characters": 6000}, rng())[0]["text"].isin(texts).all()


def test_lines_up_to_the_next_heading_are_one_document(tmp_path):
    path = tmp_path / "articles.txt"
    lines = [" = One = ", "its first line", " = = A section = = ", "", "its second line", " = Two = ", "and its line"]
    path.write_text("\n".join(["before", *lines]), encoding="utf-8")
    joined = whole_documents(read_texts(path), r"= [^=]+ =$")
    assert joined["document"].tolist() == ["1", "2", "6"]
    assert joined["text"].str.split("\n").str.len().tolist() == [1, 4, 2]
    assert whole_documents(read_texts(path), None)["text"].tolist() == ["before", *filter(None, lines)]
    entry = {"source": "file", "path": str(path), "text_columns": ["text"], "characters": None}
    assert documents_of(entry | {"document_start": "= One"}, rng())[1]["documents"] == 1  # `before` is too short
    with pytest.raises(AuditError, match="no text matches document_start 'none'; correct the pattern"):
        documents_of(entry | {"document_start": "none"}, rng())


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
