"""The page and the summary of an audit agree, and show values only on request."""

from types import SimpleNamespace

import pytest
from attack_grids import MEMBERS, RECORDS, call
from audit_examples import ATTACKS, AUDIT, FACTS
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.io import read_json, read_table, write_json, write_table
from memaudit.workflow.job import Paths


@pytest.mark.parametrize("shown", [False, True])
def test_the_page_and_the_summary_agree(folder, project, shown):
    facts = FACTS | {
        "rows": RECORDS + 5,
        "without_target": 2,
        "taken": RECORDS + 3,
        "columns": FACTS["columns"] | {"c9": {"name": "age", "type": "numeric", "use": True}},
    }
    write_json(facts, folder / "facts.json")
    counts = {"duplicates": 3, "conflicting_records": 0, "rows": RECORDS, "records": RECORDS}
    for name, table in {"dedup": counts, "checks": {"members": MEMBERS, "nonmembers": RECORDS - MEMBERS}}.items():
        rows = [tidy.row("data", {"dataset": "wine"}, metric, value) for metric, value in table.items()]
        write_table(tidy.frame(rows), folder / f"{name}.parquet")
    card = {"family": "tabicl", "mode": "raw", "licence": "MIT", "sha256": "0" * 64}
    write_json(card, folder / "model.json")
    names = ["risk", "threats", "groups", "dedup", "checks"]
    inputs = [*(f"{name}={folder / name}.parquet" for name in names), f"facts={folder / 'facts.json'}"]
    inputs += [f"names={folder / 'groups.json'}", *[f"cards={folder / 'model.json'}"] * 2]
    outputs = [f"page={folder / 'index.html'}", f"summary={folder / 'summary.json'}"]
    audit = AUDIT | {"show_values": shown}
    call(project, "audit_write_page", inputs, outputs, seed=1, attacks=ATTACKS, audit=audit | {"records": "modules"})
    assert read_json(folder / "summary.json")["protection"] is None
    assert not read_json(folder / "summary.json")["fitted"]
    assert "Which modules can be recognised" in (folder / "index.html").read_text(encoding="utf-8")
    write_json(card | {"family": "estimator"}, folder / "model.json")
    call(project, "audit_write_page", inputs, outputs, seed=1, attacks=ATTACKS, audit=audit)
    assert read_json(folder / "summary.json")["protection"]
    assert read_json(folder / "summary.json")["fitted"]
    summary, html = read_json(folder / "summary.json"), (folder / "index.html").read_text(encoding="utf-8")
    assert summary["rated"] == MEMBERS
    assert summary["table"]["disputed"] == 0
    text = " ".join(html.split())
    assert f"of {RECORDS + 5} rows {RECORDS + 3} have a target; 3 repeat another row and are left out" in text
    assert "drawn at random" not in text
    assert (
        f"Of {RECORDS} records that were queried {MEMBERS} are rated; the other {RECORDS - MEMBERS} are in no" in text
    )
    risk = read_table(folder / "risk.parquet")
    assert (summary["rated"], summary["showing"]) == (len(risk), risk["shows"].sum())
    assert f"Records rated</dt><dd>{MEMBERS}, of a table of {RECORDS + 5} rows" in text
    assert f"presence shows</dt><dd>{summary['showing']} of {MEMBERS}:" in text
    assert f'split: records that may be in a context</th><td class="wide">{MEMBERS}</td>' in text
    assert f"The {len(summary['exposed'])} most vulnerable of {MEMBERS} records." in text
    assert ("Zqx-a" in html) == shown
    assert {one["column"] for one in summary["groups"]} == {facts["target"], facts["columns"]["c0"]["name"]}
    assert "Comparison of models" in html
    assert "adds mislabelled copies to the context (2)" in html
    assert all(f'class="number">{one["row"]}</th>' in html for one in summary["exposed"])


@pytest.mark.parametrize(
    ("complete", "threats", "kept"),
    [
        (False, ["labels", "poison"], set()),
        (True, ["probabilities"], {"layer"}),
        (True, ["labels", "poison"], {"layer", "perturbation", "active"}),
    ],
)
def test_the_annex_has_no_settings_of_attacks_that_were_not_made(complete, threats, kept):
    rows, members = (tidy.frame([tidy.row("data", {"dataset": "wine"}, key, 9)]) for key in ("rows", "members"))
    tables = {"dedup": [rows], "checks": [members]}
    audit = AUDIT | {"complete": complete, "threats": threats, "models": {}}
    settings = {"sets": 32, "layer": 0.1, "perturbation": {"count": 20}, "active": {"targets": 8}}
    paths = Paths([])
    paths.cards = []
    job = SimpleNamespace(params=SimpleNamespace(seed=1, audit=audit, attacks=settings), input=paths)
    shown = {
        name.split("/")[1].rstrip(")")
        for name, _ in load_script("audit_write_page")._annex(job, FACTS, tables).settings
        if "attacks/" in name
    }
    assert shown == {"sets"} | kept
