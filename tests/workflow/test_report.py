"""The page of a real run: it is made, stays in step with tables, and Snakemake's own report needs no network."""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from workflow.conftest import SMOKE, SNAKEMAKE, job_counts

pytestmark = pytest.mark.xdist_group("smoke")
# Proxies that nobody listens to: whatever asks for the network fails at once.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def page(smoke):
    return (smoke.results / "report/index.html").read_text(encoding="utf-8")


def test_every_table_and_figure_has_its_place_and_its_caption(smoke, page):
    tables = {path.stem for path in (smoke.results / "tables").glob("*.csv")}
    shown = {name for name in tables if f'id="table-{name}"' in page}
    assert {name.split("_", 1)[1] for name in tables - shown} == {"claims", "headlines"}
    for path in (smoke.results / "figures").glob("*.svg"):
        caption = re.search(rf'<p id="{path.stem}-caption">(.+?)</p>', page)[1]
        assert len(caption) > 100
        again = f"--configfile results/smoke/config.yaml -- {path.relative_to(smoke.folder)}"
        assert f"snakemake --cores all --force {again}" in page


def test_every_claim_has_its_verdict(smoke, page):
    claims = pd.read_csv(smoke.results / "tables/lira_claims.csv")
    for name, verdict in zip(claims["id"], claims["verdict"], strict=True):
        assert re.search(rf'<li id="{name}">.*?>{verdict}</span>', page, re.DOTALL), name


def test_a_changed_table_makes_the_page_anew(smoke):
    table = smoke.results / "tables/lira_reliability.csv"
    kept, times = table.read_bytes(), table.stat()
    table.write_bytes(kept + b"\n")
    try:
        assert job_counts(smoke.snakemake("-n")).keys() == {"report_write_page", "all"}
    finally:
        table.write_bytes(kept)
        os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_the_page_is_one_of_the_ends_that_provenance_follows(smoke):
    record = read_json(smoke.results / "provenance/report_write_page.json")
    assert "results/smoke/report/index.html" in record["outputs"]
    page = smoke.results / "report/index.html"
    kept, times = page.read_bytes(), page.stat()
    page.write_bytes(kept.replace(b"AUC", b"ACU", 1))
    try:
        assert "report/index.html: changed since it was made" in smoke.snakemake("provenance", check=False)
    finally:
        page.write_bytes(kept)
        os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_the_same_results_give_the_same_page(smoke, page):
    """By hand, as the script's docstring says; times are in the sidecars, and those are the same."""
    record = read_json(smoke.results / "provenance/report_write_page.json")
    files = [path for path in record["inputs"] if not path.endswith("claims.yaml")]
    command = [sys.executable, "workflow_scripts/report/write_page.py", "--input", *files, "claims=config/claims.yaml"]
    command += ["--output", "results/smoke/report/again.html", "--params", json.dumps(record["params"])]
    subprocess.run(command, cwd=smoke.folder, env=smoke.environment, check=True, capture_output=True)
    again = smoke.results / "report/again.html"
    text = again.read_text(encoding="utf-8")
    again.unlink()
    assert text == page


def without_support(headlines):
    """Names of values that lack an interval or a null.

    A p-value is the comparison with a null, and a placebo is the null of the values beside it. One triple is excepted:
    the covariate AUC, whose band and one-sided p stand in rows of their own. A number of corrected detections is a
    decision, not an estimate, and stands beside its distribution by chance; so is the power of a null.
    """
    for (study, sentence), values in headlines.groupby(["study", "sentence"]):
        numbers = values.set_index("value")[["low", "high", "null"]]
        needed = pd.DataFrame(True, index=numbers.index, columns=numbers.columns)
        if study == "data" and set(numbers.index) == {"auc", "permuted", "p"}:
            assert re.search(r"95 % of the time within \[.+, .+\] \(one-sided test p = [\d.e-]+\)", sentence), sentence
            needed.loc["auc", ["low", "high"]] = needed.loc["permuted", "null"] = False
        needed.loc[numbers.index.str.fullmatch("p|p_.+")] = False
        counted = numbers.index.str.startswith("detected_")
        assert not counted.any() or {"chance", "power"} <= set(numbers.index), sentence
        needed.loc[counted] = needed.loc[numbers.index.str.startswith("power"), ["low", "high"]] = False
        needed["null"] &= "placebo" not in numbers.index
        yield from (f"{sentence}: {name}" for name in numbers.index[(numbers.isna() & needed).any(axis=1)])


def test_every_value_of_the_headlines_has_an_interval_and_a_null(smoke):
    found = [pd.read_csv(path) for path in (smoke.results / "tables").glob("*_headlines.csv")]
    assert all(len(table) for table in found)
    assert not list(without_support(pd.concat(found)))


def test_a_sentence_prints_what_each_of_its_values_rests_on(smoke):
    for path in (smoke.results / "tables").glob("*_headlines.csv"):
        for sentence in pd.read_csv(path)["sentence"].unique():
            assert re.search(r"\[.+, .+\]", sentence), sentence
            assert re.search("permuted|redrawn|guessing|chance|independent", sentence), sentence


def test_a_spread_over_splits_is_not_printed_as_a_confidence_interval(smoke):
    table = pd.read_csv(smoke.results / "tables/lira_headlines.csv")
    spreads = table.loc[table["value"] == "agreement", "sentence"]
    assert len(spreads)
    assert spreads.str.contains(r", 95 % of the splits within \[").all()


def test_headlines_are_printed_as_the_page_has_them(smoke, page):
    command = [
        sys.executable,
        "workflow_scripts/maintenance/print_headlines.py",
        "--params",
        '{"run": "results/smoke"}',
    ]
    done = subprocess.run(command, cwd=smoke.folder, env=smoke.environment, check=True, capture_output=True, text=True)
    printed = done.stdout
    sentences = pd.read_csv(smoke.results / "tables/lira_headlines.csv")["sentence"].unique()
    text = re.sub(r"<[^>]+>", "", page)
    assert all(sentence in printed and sentence in text for sentence in sentences)
    assert "results/smoke/report/index.html" in printed


def test_snakemakes_own_report_has_captions_and_needs_no_network(smoke):
    command = [*SNAKEMAKE, *SMOKE, "--report", "own.html"]
    environment = os.environ | OFFLINE
    done = subprocess.run(command, cwd=smoke.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    own = smoke.folder / "own.html"
    text = own.read_text(encoding="utf-8")
    assert "TPR against the number of shadow models, by aggregation strategy" in text
    assert '"LiRA"' in text
    assert "memaudit measures what models have memorized of single records" in text
    assert re.search(r"Run <[^>]+>smoke</\w+>, on the tables wine, diabetes\.", text)
    assert not re.search(r"system-message|problematic", text)
    own.unlink()


def test_captions_stand_once_and_hold_no_markup(smoke):
    """They are shown as HTML here and as reStructuredText in Snakemake's own report."""
    params = read_json(smoke.results / "provenance/report_write_page.json")["params"]
    for entry in (*params["tables"], *params["figures"]):
        assert entry["title"]
        assert not re.search(r"[*`|<>]|\w_(\W|$)", entry["caption"]), entry["caption"]
    views = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "config/views").glob("*.yaml"))
    assert views.count("TPR against the number of shadow models, by aggregation strategy") == 1
