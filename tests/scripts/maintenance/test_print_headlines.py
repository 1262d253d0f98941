"""Main results are printed with what they were checked against, and not at all where a table was changed."""

from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import load_script
from report_examples import JUDGED, headline, results

from memaudit.claims.headlines import state
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json

JOB = SimpleNamespace(params=SimpleNamespace(run="results/r"))


def write(**tables):
    """Tables by name, with the sidecar of the job that has made them."""
    paths = {f"results/r/tables/demo_{name}.csv": table for name, table in tables.items()}
    for path, table in paths.items():
        table.to_csv(path, index=False)
    record = {"inputs": {}, "outputs": {path: sha256(path) for path in paths}}
    write_json(record, "results/r/provenance/tabulate.json")


@pytest.fixture
def stated(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    for name in ("tables", "provenance"):
        (tmp_path / "results/r" / name).mkdir(parents=True)
    return state("demo", [headline()], results())


def test_sentences_verdicts_and_the_check_are_printed(stated, capsys):
    write(headlines=stated, claims=JUDGED)
    load_script("maintenance_print_headlines").main(JOB)
    printed = capsys.readouterr().out
    assert stated["sentence"][0] in printed
    assert "Claims of the papers: 1 reproduced, 1 not testable at this scale" in printed
    assert "the 2 files behind them agree with their sidecars" in printed


def test_a_run_without_claims_has_no_line_of_verdicts(stated, capsys):
    write(headlines=stated)
    load_script("maintenance_print_headlines").main(JOB)
    printed = capsys.readouterr().out
    assert stated["sentence"][0] in printed
    assert "papers" not in printed


def test_nothing_is_printed_of_a_tampered_table(stated, capsys):
    write(headlines=stated)
    stated.assign(sentence="The model has memorized nobody.").to_csv("results/r/tables/demo_headlines.csv", index=False)
    with pytest.raises(AuditError, match=r"demo_headlines.csv: changed since it was made"):
        load_script("maintenance_print_headlines").main(JOB)
    assert "nobody" not in capsys.readouterr().out


def test_a_run_without_tables_says_what_to_do(stated):
    with pytest.raises(AuditError, match=r"headlines.csv: not there; run `snakemake --cores all` first"):
        load_script("maintenance_print_headlines").main(JOB)


def test_studies_that_were_not_requested_are_left_out(stated, capsys):
    write(headlines=stated)
    job = SimpleNamespace(params=SimpleNamespace(run="results/r", studies=["other"]))
    with pytest.raises(AuditError, match="not there"):
        load_script("maintenance_print_headlines").main(job)
    job.params.studies.append("demo")
    load_script("maintenance_print_headlines").main(job)
    assert stated["sentence"][0] in capsys.readouterr().out
