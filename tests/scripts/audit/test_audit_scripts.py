"""The scripts of an audit on planted grids: every adversary, two models, groups, and the page that shows them."""

import numpy as np
import pandas as pd
import pytest
from attack_grids import MEMBERS, RECORDS, call, halves, passive, perturbed, poisoned
from audit_examples import FACTS

from memaudit import tidy
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.record_ids import make_key, read_key
from memaudit.io import read_json, read_table, write_grid, write_json, write_table

ATTACKS = {"sets": 32, "fpr": [0.1, 0.01], "replicates": 20, "permutations": 19}
ATTACKS |= {"perturbation": {"count": 20, "scale": 0.1}}
AUDIT = {
    "dataset": "wine", "fpr": 0.01, "base_rates": [0.1, 0.5], "threats": ["labels", "probabilities", "poison"],
    "models": {"main": "tabicl-small", "model_2": "forest"}, "by": ["c0", "c9"], "groups": 3, "permutations": 19,
    "shown": 5, "show_values": True, "complete": True, "plan": {"sets": 32}, "facts": "facts.json",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory, project):
    """Results of the three scripts that come before the page."""
    folder, rng = tmp_path_factory.mktemp("audit"), np.random.default_rng(0)
    grid = passive(rng)
    inputs = [f"main={path}" for path in halves(grid, folder / "main")]
    for name, made in {"perturbed": perturbed(grid, rng), "poisoned": poisoned(grid, rng)}.items():
        write_grid(made, folder / f"{name}.nc")
        inputs.append(f"{name}={folder / name}.nc")
    write_grid(grid.isel(model=slice(16)), folder / "other.nc")
    rows = pd.DataFrame({"id": [*grid.record.values, grid.record.values[0]], "row": [*range(1, RECORDS + 1), 999]})
    write_table(rows, folder / "rows.parquet")
    outputs = [f"risk={folder / 'risk.parquet'}", f"tidy={folder / 'threats.parquet'}"]
    inputs += [f"model_2={folder / 'other.nc'}", f"rows={folder / 'rows.parquet'}"]
    call(project, "audit_rate_records", inputs, outputs, seed=1, attacks=ATTACKS, audit=AUDIT)

    cities = np.array(["Zqx-a", "Zqx-b"])[np.arange(RECORDS) % 2]
    records = pd.DataFrame({"id": grid.record.values, "c0": cities, "c9": np.arange(RECORDS) % 20.0, "target": cities})
    write_table(records, folder / "records.parquet")
    schema = {"columns": [{"name": "c0", "type": "categorical"}, {"name": "c9", "type": "numeric"}]}
    write_json(schema, folder / "schema.json")
    inputs = [f"main={folder / 'main'}{i}.nc" for i in range(2)]
    inputs += [f"records={folder / 'records.parquet'}", f"schema={folder / 'schema.json'}"]
    outputs = [f"tidy={folder / 'groups.parquet'}", f"names={folder / 'groups.json'}"]
    call(project, "audit_compare_groups", inputs, outputs, seed=1, attacks=ATTACKS, audit=AUDIT)
    return folder


def test_every_adversary_is_judged_and_told_apart(folder):
    table = tidy.expand(read_table(folder / "threats.parquet"))
    aucs = table[table["metric"] == "auc"].set_index(["model", "records", "attack", "poison"])["estimate"]
    assert aucs.index.is_unique
    assert set(aucs["main"]["members"].index.get_level_values(0)) == {"lira", "correctness"}
    assert {"perturbation", "lira", "lira poisoned", "brainwash"} <= set(
        aucs["main"]["targets"].index.get_level_values(0)
    )
    assert aucs["main", "members", "lira", 0] > 0.75  # planted: 1.5 deviations
    assert 0.3 < aucs["main", "placebo", "lira", 0] < 0.7
    assert aucs["model_2", "main alike", "lira", 0] == aucs["model_2", "members", "lira", 0]


def test_precision_is_that_of_the_tpr_at_each_base_rate(folder):
    table = tidy.expand(read_table(folder / "threats.parquet"))
    rows = table[(table["model"] == "main") & (table["records"] == "members") & (table["attack"] == "lira")]
    tpr = rows.loc[rows["metric"] == "tpr@0.01", "estimate"].iloc[0]
    worth = rows[rows["metric"] == "precision"].set_index("base rate")["estimate"]
    assert worth[0.5] == pytest.approx(tpr / (tpr + 0.01))
    assert worth[0.1] == pytest.approx(0.1 * tpr / (0.1 * tpr + 0.9 * 0.01))


def test_every_member_is_rated_once_by_its_first_row(folder):
    risk = read_table(folder / "risk.parquet")
    assert sorted(risk["row"]) == list(range(1, MEMBERS + 1))
    assert list(risk["rank"]) == list(range(1, MEMBERS + 1))
    assert (risk["low"] <= risk["exposure"]).all()
    assert (risk["belief_0.1"] <= risk["belief_0.5"]).all()


def test_groups_are_numbered_in_the_result_and_named_beside_the_records(folder):
    table = tidy.expand(read_table(folder / "groups.parquet"))
    assert set(table["column"]) == {"target", "c0"}  # quarters of so few records are too small
    assert "Zqx" not in table.to_csv()
    assert set(read_json(folder / "groups.json")["c0"].values()) == {"Zqx-a", "Zqx-b"}


@pytest.mark.parametrize("shown", [False, True])
def test_the_page_and_the_summary_say_the_same(folder, project, shown):
    facts = FACTS | {"columns": FACTS["columns"] | {"c9": {"name": "age", "type": "numeric", "use": True}}}
    write_json(facts, folder / "facts.json")
    counts = {"duplicates": 3, "rows": RECORDS}
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
    call(project, "audit_write_page", inputs, outputs, seed=1, attacks=ATTACKS, audit=audit)
    summary, html = read_json(folder / "summary.json"), (folder / "index.html").read_text(encoding="utf-8")
    assert summary["rated"] == MEMBERS
    assert ("Zqx-a" in html) == shown
    assert {one["column"] for one in summary["groups"]} == {facts["target"], facts["columns"]["c0"]["name"]}
    assert "Models beside one another" in html
    assert "adds mislabelled copies to the context (2)" in html
    assert all(f'class="number">{one["row"]}</th>' in html for one in summary["exposed"])


def test_rows_are_found_by_the_ids_that_the_records_have(tmp_path, project):
    """Of equal rows the first one stands for all; so it is with the records."""
    table = pd.DataFrame({"row": [4, 7, 8, 9], "c0": [1.0, 2.0, 1.0, 3.0], "target": ["a", "b", "a", "b"]})
    table.to_parquet(tmp_path / "raw.parquet")
    make_key(tmp_path / "id.key")
    write_json({"types": {}, "typed": True}, tmp_path / "raw.json")
    policy = {"task": "classification", "target": "target", "drop": ["row"]}
    inputs = [f"table={tmp_path}/raw.parquet", f"facts={tmp_path}/raw.json", f"key={tmp_path}/id.key"]
    job = {"policy": policy | {"duplicates": "keep", "conflicts": "keep", "group": None}}
    call(project, "audit_locate_records", inputs, [str(tmp_path / "rows.parquet")], **job)
    key = read_key(tmp_path / "id.key")
    deduplicate(tmp_path / "raw.parquet", tmp_path / "r.parquet", key, Policy(**policy, typed=True), "t")
    records = read_table(tmp_path / "r.parquet").merge(read_table(tmp_path / "rows.parquet"), on="id")
    assert list(records["row"]) == [4, 7, 9]
