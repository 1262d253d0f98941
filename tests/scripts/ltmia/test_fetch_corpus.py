"""Documents of a corpus: in random order, up to a number of characters, or an error that names the file."""

import pandas as pd
import pytest
from ltmia_pipeline import call

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table


def fetch(folder, seed=1, **changes):
    entry = {"source": "file", "path": str(folder / "own.csv"), "text_columns": ["text"], "characters": None} | changes
    outputs = [f"documents={folder}/documents.parquet", f"facts={folder}/facts.json"]
    call("ltmia_fetch_corpus", [], outputs, folder, {"seed": seed, "entry": entry}, dataset="own")
    return read_table(folder / "documents.parquet")["text"].tolist(), read_json(folder / "facts.json")


def test_documents_are_drawn_by_seed_up_to_their_characters(tmp_path):
    texts = [f"document {number:03d} of some sixty characters, long enough to keep" for number in range(50)]
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "own.csv", index=False)
    whole, facts = fetch(tmp_path)
    assert sorted(whole) == texts
    assert facts["sha256"]
    assert fetch(tmp_path)[0] == whole != fetch(tmp_path, seed=2)[0]
    few, _ = fetch(tmp_path, characters=160)
    assert few == whole[: len(few)]
    assert 160 <= sum(map(len, few)) < 160 + len(texts[0])


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(AuditError, match=r"own\.csv"):
        fetch(tmp_path)
