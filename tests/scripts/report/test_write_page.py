"""The page is written from tables, figures and the sidecars on disk; data sets keep names that look like numbers."""

from types import SimpleNamespace

import yaml
from conftest import load_script
from report_examples import CLAIM, JUDGED, SVG, headline, record, results

from memaudit.common import tidy
from memaudit.common.io import write_json
from memaudit.statistics.headlines import state
from memaudit.workflow.job import Paths


def test_a_page_has_the_tables_and_figures_of_its_inputs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/r"
    for name in ("tables", "figures", "provenance", "report"):
        (folder / name).mkdir(parents=True)
    (folder / "figures/demo_roc.svg").write_text(SVG)
    (folder / "figures/demo_roc.png").write_bytes(b"")
    named = results().assign(setting=[f"dataset=2024, models={m}" for m in range(4)])
    tidy.expand(named).to_csv(folder / "tables/demo_auc.csv", index=False)
    JUDGED.to_csv(folder / "tables/demo_claims.csv", index=False)
    state("demo", [headline()], results()).to_csv(folder / "tables/demo_headlines.csv", index=False)
    (tmp_path / "claims.yaml").write_text(
        yaml.safe_dump([CLAIM.model_dump(exclude_unset=True) | {"id": name} for name in ("one", "two")])
    )
    figure = "results/r/figures/demo_roc.svg"
    write_json(record("demo_judge", ["raw.csv"], ["scores"]), folder / "provenance/judge.json")
    write_json(record("views_draw_figures", ["scores"], [figure]), folder / "provenance/draw.json")
    names = ("demo_auc", "demo_claims", "demo_headlines")
    entry = {"title": "Title", "caption": "Caption.", "layout": None}
    study = {"name": "demo", "title": "Demo", "question": "?", "paper": None, "thresholds": []}
    params = {"command": "snakemake", "studies": [study], "figures": [entry | {"name": "demo_roc"}]}
    params |= {"tables": [entry | {"name": name} for name in names]}
    views = [*(f"results/r/tables/{name}.csv" for name in names), figure]
    load_script("report_write_page").main(
        SimpleNamespace(
            input=Paths(["claims=claims.yaml", *views]),
            output=Paths(["results/r/report/index.html"]),
            params=SimpleNamespace(**params),
        )
    )
    page = (folder / "report/index.html").read_text(encoding="utf-8")
    assert '<th scope="row">2024</th>' in page
    assert 'id="table-demo_auc"' in page
    assert '<figure id="demo_roc">' in page
    assert "2 jobs behind 4 tables and figures" in capsys.readouterr().out
