"""The catalogue holds what the papers use; tables are written for readers and for machines."""

import pandas as pd
import pytest
from conftest import load

from memaudit.data.table_sources import fetch
from memaudit.plotting import result_tables

# What each paper's tables of data sets list, by the name in the catalogue.
PAPERS = {
    "lira-reliability": ["adult-balanced", "credit-g"],
    "tabpate, classification": ["credit-g", "blood-transfusion", "diabetes-pima", "phoneme", "wilt"],
    "tabpate, attacks": ["credit-g", "blood-transfusion", "diabetes-pima", "vehicle", "kc1"],
    "tabpate, larger": ["electricity", "bank-marketing", "adult", "madelon"],
    "tabpate, regression": [
        "abalone", "california-housing", "diabetes", "wine-quality", "bike-sharing", "cpu-small", "ames-housing",
        "superconduct",
    ],
    "iclmem": [
        "carte-anime-planet", "carte-babies-r-us", "carte-beer-ratings", "carte-bikedekho", "carte-bikewale",
        "carte-buy-buy-baby", "carte-cardekho", "carte-chocolate-bar-ratings", "carte-clear-corpus",
        "carte-coffee-ratings",
    ],
    "lt-mia": [
        "news-category", "wikipedia", "cnn-dailymail", "ag-news", "wikitext-103", "xsum", "swallow-code",
    ],
    "predict": ["mmlu", "ethics", "arc", "cifar10"],
}  # fmt: skip


@pytest.fixture(scope="module")
def catalogue():
    return load("config")["datasets"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_data_set_of_the_papers_is_in_the_catalogue(catalogue, paper):
    assert [name for name in PAPERS[paper] if name not in catalogue] == []
    for name in PAPERS[paper]:
        assert catalogue[name]["licence"]
        assert catalogue[name].get("kind") == "text" or catalogue[name]["target"]


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits", "diabetes", "credit-g", "blood-transfusion"])
def test_tables_without_a_download_are_the_ones_of_the_catalogue(catalogue, tmp_path, name):
    entry = catalogue[name]
    facts = fetch(entry, tmp_path / "raw.parquet", tmp_path)
    assert facts["sha256"] == entry["sha256"]
    assert facts["rows"] == entry["rows"]
    assert entry["target"] in facts["columns"]


def test_no_two_entries_are_the_same_records(catalogue):
    keys = ("id", "url", "name", "subset", "package", "content", "balance")
    sources = [tuple(entry.get(key) for key in keys) for entry in catalogue.values()]
    assert len(set(sources)) == len(sources)


def test_a_table_is_exact_for_machines_and_rounded_and_escaped_for_readers(tmp_path):
    frame = pd.DataFrame(
        {
            "data_set": ["a|b", "c & d_e"],
            "rows": [12345, 7],
            "auc": [1 / 3, float("nan")],
            "n": pd.array([1, None], "Int64"),
        }
    )
    result_tables.write(frame, tmp_path / "t")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t.csv").astype({"n": "Int64"}), frame)
    markdown = (tmp_path / "t.md").read_text().splitlines()
    assert markdown == [
        "| data_set | rows | auc | n |",
        "| :-- | --: | --: | --: |",
        r"| a\|b | 12345 | 0.333 | 1 |",
        "| c & d_e | 7 | - | - |",
    ]
    latex = (tmp_path / "t.tex").read_text()
    assert r"\begin{tabular}{lrrr}" in latex
    assert r"c \& d\_e & 7 & - & - \\" in latex
